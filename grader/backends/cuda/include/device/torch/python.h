#pragma once
#include <itf/torch.h>
