// backplane-bench-node-graph [PODS…]: the cost of the Node authorizer's graph for these numbers of pods (default: 1,000, 10,000 and
// 100,000).
//
// It needs no server.  Each node has thirty pods.  Each pod uses a service account, the root certificates of its namespace, a ConfigMap
// and a Secret that ten pods share, and its PersistentVolumeClaim, which is bound to a volume with a Secret.
#include <malloc.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "node/graph.hpp"

namespace {

using namespace backplane::authorization;

constexpr int kPodsOfNode = 30, kPodsOfWorkload = 10, kPodsOfNamespace = 100;

// The CPU time of this thread; unlike elapsed time, it does not include that of other processes.
std::chrono::nanoseconds thread_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

std::size_t heap_in_use() {
  const auto info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

std::string numbered(const char* text, int number) { return text + std::to_string(number); }
std::string namespace_of(int pod) { return numbered("namespace-", pod / kPodsOfNamespace); }
VertexName claim_of(int pod) { return {VertexKind::kVolumeClaim, namespace_of(pod), numbered("data-", pod)}; }
VertexName pod_of(int pod) { return {VertexKind::kPod, namespace_of(pod), numbered("workload-5f7d8c9b6d-", pod)}; }
std::string node_of(int pod) { return numbered("node-", pod / kPodsOfNode); }

std::vector<VertexName> references_of(int pod) {
  const std::string ns = namespace_of(pod);
  return {{VertexKind::kServiceAccount, ns, "default"},
          {VertexKind::kConfigMap, ns, "kube-root-ca.crt"},
          {VertexKind::kConfigMap, ns, numbered("settings-", pod / kPodsOfWorkload)},
          {VertexKind::kSecret, ns, numbered("credentials-", pod / kPodsOfWorkload)},
          claim_of(pod)};
}

void add_pod(NodeGraph& graph, int pod) {
  graph.bind(pod_of(pod), node_of(pod), references_of(pod));
  graph.bind_volume(numbered("pv-", pod), claim_of(pod), {{VertexKind::kSecret, "storage", numbered("pv-key-", pod)}});
}

// Calls `call` once for each of `pods` pods and returns the nanoseconds of one call.
template <class Call>
double per_pod(int pods, const Call& call) {
  const auto begin = thread_time();
  for (int pod = 0; pod < pods; ++pod) call(pod);
  return static_cast<double>((thread_time() - begin).count()) / pods;
}

void measure_graph(int pods) {
  const std::size_t before = heap_in_use();
  NodeGraph graph;
  const double adding = per_pod(pods, [&](int pod) { add_pod(graph, pod); });
  const double bytes = static_cast<double>(heap_in_use() - before) / pods;
  const double vertices = static_cast<double>(graph.size()) / pods;
  const double same = per_pod(pods, [&](int pod) { graph.bind(pod_of(pod), node_of(pod), references_of(pod)); });
  int allowed = 0;
  const double secret = per_pod(pods, [&](int pod) {
    allowed += graph.reaches(node_of(pod), VertexKind::kSecret, namespace_of(pod), numbered("credentials-", pod / kPodsOfWorkload));
  });
  const double through_volume =
      per_pod(pods, [&](int pod) { allowed += graph.reaches(node_of(pod), VertexKind::kSecret, "storage", numbered("pv-key-", pod)); });
  int refused = 0;
  const double other = per_pod(
      pods, [&](int pod) { refused += !graph.reaches("node-of-nobody", VertexKind::kSecret, "storage", numbered("pv-key-", pod)); });
  const double removing = per_pod(pods, [&](int pod) {
    graph.unbind(pod_of(pod));
    graph.unbind_volume(numbered("pv-", pod));
  });
  std::printf("%7d pods: %5.0f bytes and %.2f vertices of a pod; ns: add %.0f, update without a change %.0f, remove %.0f,\n", pods, bytes,
              vertices, adding, same, removing);
  std::printf("              a secret %.0f, a secret behind a volume %.0f, refused %.0f\n", secret, through_volume, other);
  if (allowed != 2 * pods || refused != pods || graph.size() != 0) {
    std::fprintf(stderr, "the graph answers wrongly\n");
    std::exit(1);
  }
}

}  // namespace

int main(int count, char** arguments) {
  std::vector<int> pods;
  for (int i = 1; i < count; ++i) pods.push_back(std::atoi(arguments[i]));
  if (pods.empty()) pods = {1'000, 10'000, 100'000};
  for (const int each : pods) measure_graph(each);
  return 0;
}
