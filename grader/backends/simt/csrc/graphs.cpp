#include "graphs.h"

#include "errors.h"
#include "history.h"
#include "stream_order.h"

#include <functional>
#include <memory>

namespace simt {

using Act = std::function<void(void* stream)>;

struct GraphNode {
  int type;  // as cudaGraphNodeType
  Act act;
  std::vector<GraphNode*> after;
};
struct Graph {
  std::vector<std::unique_ptr<GraphNode>> nodes;
};
struct GraphExec {
  std::vector<std::pair<GraphNode*, Act>> acts;
};
enum NodeType { KERNEL_NODE, COPY_NODE, FILL_NODE, CALL_NODE, GRAPH_NODE, EMPTY_NODE };

// There is one queue, so there is one capture at a time.
static Graph* g_captured = nullptr;
static std::vector<void*> g_capturing;  // the streams
static size_t g_captured_from = 0;  // nodes that the graph had before
static bool g_broken = false;

static bool is_captured(void* stream) {
  return std::find(g_capturing.begin(), g_capturing.end(), stream) != g_capturing.end();
}

static GraphNode* add(Graph* graph, int type, Act act) {
  bool follows = graph == g_captured && graph->nodes.size() > g_captured_from;
  GraphNode* before = follows ? graph->nodes.back().get() : nullptr;
  graph->nodes.push_back(std::make_unique<GraphNode>());
  GraphNode* node = graph->nodes.back().get();
  if (before) node->after.push_back(before);  // work is captured one after another
  node->type = type;
  node->act = std::move(act);
  return node;
}

bool keep_launch(const LaunchSite& site, const LaunchConfig& config, const LaunchBody& body,
                 const PointerArgument* pointers, int count) {
  if (!g_captured || !is_captured(config.stream)) return false;
  std::vector<PointerArgument> kept(pointers, pointers + count);
  add(g_captured, KERNEL_NODE, [=, held = std::shared_ptr<void>(body.context, body.destroy)](void* stream) {
    LaunchConfig now = config;
    LaunchBody again = body;
    now.stream = stream;
    again.destroy = [](void*) {};  // the graph still has it
    simt_launch(&site, &now, &again, kept.data(), int(kept.size()));
  });
  return true;
}

bool break_capture() {
  if (!g_captured) return false;
  if (!g_broken) set_launch_error(CAPTURE_UNSUPPORTED,
                   "a stream is being captured, so nothing is done yet: the host cannot wait for it or look at memory "
                   "before cudaStreamEndCapture");
  return g_broken = true;
}

static void in_order(GraphNode* node, std::vector<GraphNode*>& done) {
  if (std::find(done.begin(), done.end(), node) != done.end()) return;
  for (GraphNode* before : node->after) in_order(before, done);
  done.push_back(node);
}

static std::vector<GraphNode*> in_order(const Graph& graph) {
  std::vector<GraphNode*> done;
  for (auto& node : graph.nodes) in_order(node.get(), done);
  return done;
}

static Act all_of(const Graph& graph) {
  std::vector<Act> acts;
  for (GraphNode* node : in_order(graph)) acts.push_back(node->act);
  return [acts](void* stream) {
    for (auto& act : acts) act(stream);
  };
}

}  // namespace simt

using namespace simt;

extern "C" int simt_begin_capture(void* stream, void* graph) {
  if (g_captured) return CAPTURE_UNSUPPORTED;
  g_captured = graph ? (Graph*)graph : new Graph;
  g_captured_from = g_captured->nodes.size();
  g_capturing = {stream};
  g_broken = false;
  return 0;
}

extern "C" int simt_end_capture(void* stream, void** graph) {
  if (!g_captured || g_capturing[0] != stream) return ILLEGAL_STATE;
  *graph = g_broken ? nullptr : g_captured;
  if (g_broken) delete g_captured;
  g_captured = nullptr;
  g_capturing.clear();
  return g_broken ? CAPTURE_INVALIDATED : 0;
}

extern "C" int simt_is_captured(void* stream) { return g_captured && is_captured(stream) ? 1 + g_broken : 0; }

extern "C" void simt_join_capture(void* stream) {
  if (g_captured && !is_captured(stream)) g_capturing.push_back(stream);
}

extern "C" int simt_keep_copy(void* stream, void* to, const void* from, size_t bytes, int kind) {
  if (!simt_is_captured(stream)) return note_copy_on(stream), simt_copy_is_on(stream), 0;
  const size_t here = (size_t)__builtin_return_address(0) - 1;
  add(g_captured, COPY_NODE, [=](void* on) {
    next_copy_is_a_node(on, here);
    simt_fail(simt_copy(to, from, bytes, kind));
  });
  return 1;
}

// What is copied is what `from` holds when the graph is launched.
extern "C" int simt_keep_symbol(void* stream, void* to, const void* from, size_t bytes) {
  if (!simt_is_captured(stream)) return simt_copy_is_on(stream), 0;
  const size_t here = (size_t)__builtin_return_address(0) - 1;
  add(g_captured, COPY_NODE, [=](void* on) {
    next_copy_is_a_node(on, here);
    simt_symbol_changes(to, from, bytes);
    simt_symbol_written(to, from, bytes);
    memcpy(to, from, bytes);
  });
  return 1;
}

extern "C" int simt_keep_fill(void* stream, void* to, unsigned value, size_t bytes, unsigned element) {
  if (!simt_is_captured(stream)) return note_copy_on(stream), simt_copy_is_on(stream), 0;
  const size_t here = (size_t)__builtin_return_address(0) - 1;
  add(g_captured, FILL_NODE, [=](void* on) {
    next_copy_is_a_node(on, here);
    simt_fail(simt_fill(to, value, bytes, element));
  });
  return 1;
}

extern "C" int simt_keep_call(void* stream, void (*function)(void*), void* data) {
  if (!simt_is_captured(stream)) return 0;
  add(g_captured, CALL_NODE, [=](void*) {
    simt_wait();
    function(data);
  });
  return 1;
}

extern "C" void* simt_graph(const void* copied) {
  auto* graph = new Graph;
  if (copied) add(graph, GRAPH_NODE, all_of(*(const Graph*)copied));
  return graph;
}

extern "C" void simt_end_graph(void* graph) {
  simt_wait();  // what is queued still holds its arguments
  delete (Graph*)graph;
}

extern "C" void* simt_graph_add(void* graph, const void* child) {
  return add((Graph*)graph, child ? GRAPH_NODE : EMPTY_NODE, child ? all_of(*(const Graph*)child) : Act([](void*) {}));
}

extern "C" size_t simt_graph_size(const void* graph) { return ((const Graph*)graph)->nodes.size(); }
extern "C" void* simt_graph_node(const void* graph, size_t i) { return ((const Graph*)graph)->nodes[i].get(); }
extern "C" int simt_node_type(const void* node) { return ((const GraphNode*)node)->type; }
extern "C" void simt_node_after(void* node, void* other) { ((GraphNode*)node)->after.push_back((GraphNode*)other); }

// One node for all that a graph does: what a capture of one node's work gave.
extern "C" void simt_node_becomes(void* node, const void* graph) { ((GraphNode*)node)->act = all_of(*(const Graph*)graph); }

extern "C" void* simt_graph_exec(const void* graph) {
  auto* exec = new GraphExec;
  for (GraphNode* node : in_order(*(const Graph*)graph)) exec->acts.push_back({node, node->act});
  return exec;
}

extern "C" void simt_end_graph_exec(void* exec) {
  simt_wait();
  delete (GraphExec*)exec;
}

extern "C" void simt_graph_launch(const void* exec, void* stream) {
  auto acts = ((const GraphExec*)exec)->acts;
  auto all = [acts](void* on) {
    bool in_a_row = true;
    for (size_t i = 1; i < acts.size(); ++i) {
      auto& after = acts[i].first->after;
      in_a_row &= std::find(after.begin(), after.end(), acts[i - 1].first) != after.end();
    }
    std::unique_ptr<GraphOrder> order(in_a_row ? nullptr : new GraphOrder(on));
    for (auto& [node, act] : acts) {
      if (order) order->begin(node, {node->after.begin(), node->after.end()});
      act(on);
      if (order) order->end(node);
    }
  };
  if (simt_is_captured(stream)) add(g_captured, GRAPH_NODE, all);
  else all(stream);
}

// The work of `node` is that of a graph from now on; 0 if the node is not in it.
extern "C" int simt_exec_changes(void* exec, const void* node, const void* graph) {
  simt_wait();  // what is queued still holds the arguments that it was launched with
  for (auto& [known, act] : ((GraphExec*)exec)->acts) {
    if (known != node) continue;
    act = all_of(*(const Graph*)graph);
    return 1;
  }
  return 0;
}

// Nodes are matched by their order; 0 if the graphs differ.
extern "C" int simt_exec_follows(void* exec, const void* graph) {
  simt_wait();
  auto& acts = ((GraphExec*)exec)->acts;
  auto nodes = in_order(*(const Graph*)graph);
  if (nodes.size() != acts.size()) return 0;
  for (size_t i = 0; i < nodes.size(); ++i)
    if (nodes[i]->type != acts[i].first->type) return 0;
  for (size_t i = 0; i < nodes.size(); ++i) acts[i] = {nodes[i], nodes[i]->act};
  return 1;
}
