// Records which objects a node may read: those to which its pods, their volumes, and other objects that are bound to the node refer.
//
// An owner (a pod, a volume attachment, a resource slice, a certificate request) is bound to one node and contributes references. A volume
// connects secrets with a claim. The time and memory of a change depend only on the changed owner.
// Thread-safety: reaches() from any thread, under the read lock of one of kShards parts at a time; the other methods from one thread.
// Source:        kubernetes plugin/pkg/auth/authorizer/node/graph.go.
#pragma once

#include <array>
#include <cstdint>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace backplane::authorization {

enum class VertexKind : char {
  kNode = 'n',
  kPod = 'p',
  kConfigMap = 'c',
  kSecret = 's',
  kServiceAccount = 'a',
  kVolumeClaim = 'v',
  kVolume = 'V',
  kResourceClaim = 'r',
  kResourceSlice = 'S',
  kVolumeAttachment = 'A',
  kCertificateRequest = 'C',
};

struct VertexName {
  VertexKind kind;
  std::string ns;  // empty for cluster-scoped kinds
  std::string name;
  bool operator==(const VertexName&) const = default;
};

class NodeGraph {
 public:
  NodeGraph();
  ~NodeGraph();

  // Replaces the contribution of `owner`: from now on, `node` may read `owner` and `references`. References that do not change remain
  // readable during the call. Returns false if nothing has changed.
  bool bind(const VertexName& owner, const std::string& node, const std::vector<VertexName>& references);
  // Removes the contribution of `owner`.
  void unbind(const VertexName& owner);
  // Replaces the contribution of the volume `name`: a node that may read `claim` may read the volume and `secrets`.
  void bind_volume(const std::string& name, const VertexName& claim, const std::vector<VertexName>& secrets);
  void unbind_volume(const std::string& name);

  bool reaches(std::string_view node, VertexKind kind, std::string_view ns, std::string_view name) const;

  // Number of vertices.
  std::size_t size() const;

 private:
  using NodeId = std::uint32_t;
  struct Vertex {
    const std::string* key = nullptr;
    NodeId id = 0;                                        // the number of the node, for kNode
    std::uint32_t owners = 0;                             // references from owners_ and volumes_
    std::vector<std::pair<NodeId, std::uint32_t>> nodes;  // sorted; each with the number of owners that bind the vertex to the node
    std::vector<std::string> via;                         // keys of other vertices: their nodes may read this vertex, too
  };
  struct Shard {
    mutable std::shared_mutex mutex;
    std::unordered_map<std::string, Vertex> vertices;
  };
  struct Owner {
    Vertex* node = nullptr;
    std::vector<Vertex*> references;  // including the owner's own vertex
  };
  struct Volume {
    Vertex* volume = nullptr;
    Vertex* claim = nullptr;
    std::vector<Vertex*> secrets;
  };
  static constexpr std::size_t kShards = 16;
  static constexpr int kMostHops = 3;  // secret, volume, claim

  Shard& shard_of(std::string_view key) const;
  Vertex& take(const std::string& key);
  void release(Vertex& vertex);
  void add_node(Vertex& vertex, NodeId node);
  void remove_node(Vertex& vertex, NodeId node);
  void add_via(Vertex& vertex, const std::string& key);
  void remove_via(Vertex& vertex, const std::string& key);
  static bool is_same(const Owner& owner, const std::string& node, const std::vector<std::string>& references);
  void drop(Owner& owner);
  void drop(Volume& volume);
  bool reaches(NodeId node, const std::string& key, int hops) const;

  mutable std::array<Shard, kShards> shards_;
  // The members below are used only by the thread that makes changes.
  std::unordered_map<std::string, Owner> owners_;
  std::unordered_map<std::string, Volume> volumes_;
  NodeId last_id_ = 0;
};

}  // namespace backplane::authorization
