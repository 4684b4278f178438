// CUDA graphs: what a captured stream is asked for is kept, and done when the graph is launched.
#pragma once
#include "base.h"

namespace simt {

// Whether a launch on a captured stream was kept.
bool keep_launch(const LaunchSite& site, const LaunchConfig& config, const LaunchBody& body,
                 const PointerArgument* pointers, int count);
// The host looks at what is being captured, so the capture cannot go on; whether there is one.
bool break_capture();

}  // namespace simt
