#include "node/graph.hpp"

#include <algorithm>
#include <mutex>
#include <optional>

namespace backplane::authorization {
namespace {

std::string vertex_key(VertexKind kind, std::string_view ns, std::string_view name) {
  std::string key;
  key.reserve(2 + ns.size() + name.size());
  key.push_back(static_cast<char>(kind));
  key.append(ns).push_back('/');
  return key.append(name);
}
std::string vertex_key(const VertexName& name) { return vertex_key(name.kind, name.ns, name.name); }

}  // namespace

NodeGraph::NodeGraph() = default;
NodeGraph::~NodeGraph() = default;

NodeGraph::Shard& NodeGraph::shard_of(std::string_view key) const { return shards_[std::hash<std::string_view>()(key) / 64 % kShards]; }

NodeGraph::Vertex& NodeGraph::take(const std::string& key) {
  Shard& shard = shard_of(key);
  const std::unique_lock lock(shard.mutex);
  const auto [at, made] = shard.vertices.try_emplace(key);
  Vertex& vertex = at->second;
  if (made) {
    vertex.key = &at->first;
    if (key.front() == static_cast<char>(VertexKind::kNode)) vertex.id = ++last_id_;
  }
  ++vertex.owners;
  return vertex;
}

void NodeGraph::release(Vertex& vertex) {
  Shard& shard = shard_of(*vertex.key);
  const std::unique_lock lock(shard.mutex);
  if (--vertex.owners == 0) shard.vertices.erase(shard.vertices.find(*vertex.key));
}

void NodeGraph::add_node(Vertex& vertex, NodeId node) {
  const std::unique_lock lock(shard_of(*vertex.key).mutex);
  const auto at = std::lower_bound(vertex.nodes.begin(), vertex.nodes.end(), std::pair<NodeId, std::uint32_t>{node, 0});
  if (at != vertex.nodes.end() && at->first == node) {
    ++at->second;
  } else {
    vertex.nodes.insert(at, {node, 1});
  }
}

void NodeGraph::remove_node(Vertex& vertex, NodeId node) {
  const std::unique_lock lock(shard_of(*vertex.key).mutex);
  const auto at = std::lower_bound(vertex.nodes.begin(), vertex.nodes.end(), std::pair<NodeId, std::uint32_t>{node, 0});
  if (at == vertex.nodes.end() || at->first != node) return;
  if (--at->second == 0) vertex.nodes.erase(at);
}

void NodeGraph::add_via(Vertex& vertex, const std::string& key) {
  const std::unique_lock lock(shard_of(*vertex.key).mutex);
  vertex.via.push_back(key);
}

void NodeGraph::remove_via(Vertex& vertex, const std::string& key) {
  const std::unique_lock lock(shard_of(*vertex.key).mutex);
  const auto at = std::find(vertex.via.begin(), vertex.via.end(), key);
  if (at != vertex.via.end()) vertex.via.erase(at);
}

void NodeGraph::drop(Owner& owner) {
  for (Vertex* reference : owner.references) {
    remove_node(*reference, owner.node->id);
    release(*reference);
  }
  if (owner.node != nullptr) release(*owner.node);
  owner = {};
}

bool NodeGraph::is_same(const Owner& owner, const std::string& node, const std::vector<std::string>& references) {
  return owner.node != nullptr && *owner.node->key == node &&
         std::equal(owner.references.begin(), owner.references.end(), references.begin(), references.end(),
                    [](const Vertex* vertex, const std::string& key) { return *vertex->key == key; });
}

bool NodeGraph::bind(const VertexName& owner, const std::string& node, const std::vector<VertexName>& references) {
  std::vector<std::string> keys = {vertex_key(owner)};
  keys.reserve(references.size() + 1);
  for (const VertexName& reference : references) keys.push_back(vertex_key(reference));
  const std::string node_key = vertex_key(VertexKind::kNode, {}, node);
  Owner& current = owners_[keys.front()];
  if (is_same(current, node_key, keys)) return false;
  Owner next;
  next.node = &take(node_key);
  next.references.reserve(keys.size());
  for (const std::string& key : keys) {
    Vertex& vertex = take(key);
    add_node(vertex, next.node->id);
    next.references.push_back(&vertex);
  }
  drop(current);
  current = std::move(next);
  return true;
}

void NodeGraph::unbind(const VertexName& owner) {
  const auto found = owners_.find(vertex_key(owner));
  if (found == owners_.end()) return;
  drop(found->second);
  owners_.erase(found);
}

void NodeGraph::drop(Volume& volume) {
  if (volume.volume == nullptr) return;
  for (Vertex* secret : volume.secrets) {
    remove_via(*secret, *volume.volume->key);
    release(*secret);
  }
  remove_via(*volume.volume, *volume.claim->key);
  release(*volume.claim);
  release(*volume.volume);
  volume = {};
}

void NodeGraph::bind_volume(const std::string& name, const VertexName& claim, const std::vector<VertexName>& secrets) {
  Volume next;
  next.volume = &take(vertex_key(VertexKind::kVolume, {}, name));
  next.claim = &take(vertex_key(claim));
  add_via(*next.volume, *next.claim->key);
  for (const VertexName& secret : secrets) {
    Vertex& vertex = take(vertex_key(secret));
    add_via(vertex, *next.volume->key);
    next.secrets.push_back(&vertex);
  }
  Volume& current = volumes_[name];
  drop(current);
  current = std::move(next);
}

void NodeGraph::unbind_volume(const std::string& name) {
  const auto found = volumes_.find(name);
  if (found == volumes_.end()) return;
  drop(found->second);
  volumes_.erase(found);
}

bool NodeGraph::reaches(NodeId node, const std::string& key, int hops) const {
  std::vector<std::string> via;
  {
    const Shard& shard = shard_of(key);
    const std::shared_lock lock(shard.mutex);
    const auto found = shard.vertices.find(key);
    if (found == shard.vertices.end()) return false;
    const auto& nodes = found->second.nodes;
    const auto at = std::lower_bound(nodes.begin(), nodes.end(), std::pair<NodeId, std::uint32_t>{node, 0});
    if (at != nodes.end() && at->first == node) return true;
    if (hops == 0) return false;
    via = found->second.via;
  }
  return std::any_of(via.begin(), via.end(), [&](const std::string& next) { return reaches(node, next, hops - 1); });
}

bool NodeGraph::reaches(std::string_view node, VertexKind kind, std::string_view ns, std::string_view name) const {
  const std::string node_key = vertex_key(VertexKind::kNode, {}, node);
  NodeId id = 0;
  {
    const Shard& shard = shard_of(node_key);
    const std::shared_lock lock(shard.mutex);
    const auto found = shard.vertices.find(node_key);
    if (found == shard.vertices.end()) return false;
    id = found->second.id;
  }
  return reaches(id, vertex_key(kind, ns, name), kMostHops);
}

std::size_t NodeGraph::size() const {
  std::size_t out = 0;
  for (const Shard& shard : shards_) {
    const std::shared_lock lock(shard.mutex);
    out += shard.vertices.size();
  }
  return out;
}

}  // namespace backplane::authorization
