#include "plugin/graph.hpp"

#include <algorithm>
#include <queue>
#include <utility>

namespace backplane {

void Graph::add(std::size_t from, std::size_t to) {
  auto& targets = out_[from];
  if (std::find(targets.begin(), targets.end(), to) == targets.end()) targets.push_back(to);
}

bool Graph::reaches(std::size_t from, std::size_t to) const {
  std::vector<bool> seen(out_.size());
  std::vector<std::size_t> open{from};
  while (!open.empty()) {
    const auto node = open.back();
    open.pop_back();
    if (node == to) return true;
    if (seen[node]) continue;
    seen[node] = true;
    open.insert(open.end(), out_[node].begin(), out_[node].end());
  }
  return false;
}

std::vector<std::size_t> Graph::cycle(const std::vector<std::size_t>& nodes) const {
  enum class Mark : unsigned char { kNew, kOpen, kDone };
  std::vector<Mark> marks(out_.size(), Mark::kDone);
  for (const auto node : nodes) marks[node] = Mark::kNew;
  // The path from the start: each node with its next edge to follow.
  std::vector<std::pair<std::size_t, std::size_t>> path;
  for (const auto start : nodes) {
    if (marks[start] != Mark::kNew) continue;
    path.assign(1, {start, 0});
    marks[start] = Mark::kOpen;
    while (!path.empty()) {
      auto& [node, edge] = path.back();
      if (edge == out_[node].size()) {
        marks[node] = Mark::kDone;
        path.pop_back();
        continue;
      }
      const auto next = out_[node][edge++];
      if (marks[next] == Mark::kNew) {
        marks[next] = Mark::kOpen;
        path.emplace_back(next, 0);
      } else if (marks[next] == Mark::kOpen) {
        std::vector<std::size_t> members;
        const auto first = std::find_if(path.begin(), path.end(), [next](const auto& step) { return step.first == next; });
        for (auto step = first; step != path.end(); ++step) members.push_back(step->first);
        return members;
      }
    }
  }
  return {};
}

std::vector<std::size_t> Graph::sorted(const std::vector<std::size_t>& nodes, const std::vector<std::size_t>& rank,
                                       Direction direction) const {
  std::vector<std::size_t> waiting_for(out_.size());
  std::vector<std::vector<std::size_t>> next(out_.size());
  for (const auto from : nodes) {
    for (const auto to : out_[from]) {
      const bool forward = direction == Direction::kSourcesFirst;
      next[forward ? from : to].push_back(forward ? to : from);
      ++waiting_for[forward ? to : from];
    }
  }
  const auto later = [&rank](std::size_t a, std::size_t b) { return rank[a] > rank[b]; };
  std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(later)> ready(later);
  for (const auto node : nodes) {
    if (waiting_for[node] == 0) ready.push(node);
  }
  std::vector<std::size_t> order;
  while (!ready.empty()) {
    const auto node = ready.top();
    ready.pop();
    order.push_back(node);
    for (const auto follower : next[node]) {
      if (--waiting_for[follower] == 0) ready.push(follower);
    }
  }
  return order;
}

}  // namespace backplane
