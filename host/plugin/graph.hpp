// A small directed graph over indexes: cycles, reachability and an order that depends on the edges and the ranks alone.
//
// Thread-safety: one thread.
#pragma once

#include <cstddef>
#include <vector>

namespace backplane {

class Graph {
 public:
  enum class Direction : unsigned char { kSourcesFirst, kTargetsFirst };

  explicit Graph(std::size_t nodes) : out_(nodes) {}
  void add(std::size_t from, std::size_t to);
  bool reaches(std::size_t from, std::size_t to) const;
  // The members of a cycle among `nodes`, in the order of its edges; empty if there is no cycle. If there are several cycles, it is the one
  // that is found first in the order of `nodes`.
  std::vector<std::size_t> cycle(const std::vector<std::size_t>& nodes) const;
  // `nodes` in Kahn's order. If several nodes may come next, the one with the lowest rank does. Precondition: the graph has no cycle.
  std::vector<std::size_t> sorted(const std::vector<std::size_t>& nodes, const std::vector<std::size_t>& rank, Direction direction) const;

 private:
  std::vector<std::vector<std::size_t>> out_;
};

}  // namespace backplane
