// The graph of owners and dependants.
//
// Only objects with owners, dependants, or a finalizer of the garbage collector have a node: 70 to 100 bytes for an object with one owner.
// An owner that no event has reported is unverified; one that is known not to exist is absent. Both are retained as long as they have
// dependants.
// Thread-safety: one thread.
// Lifetime:      views in an Item are valid until the next change.
// Errors:        none.
// Source:        k8s.io/kubernetes/pkg/controller/garbagecollector (graph_builder.go); there every object has a node.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gc/facts.hpp"
#include "gc/name_pool.hpp"
#include "gc/row_table.hpp"
#include "gc/text_pool.hpp"
#include "gc/uid.hpp"

namespace backplane::controllers::gc {

// The type of an object: "apps/v1 Deployment".
std::string type_text(std::string_view api_version, std::string_view kind);

// The public view of a node.
struct Item {
  Uid uid;
  std::string type, ns, name;
  bool observed = false;                    // reported by an event or a read
  bool absent = false;                      // known not to exist
  bool deleted = false;                     // has a deletion timestamp
  bool foreground = false, orphan = false;  // is being deleted and has this finalizer
  bool has_dependents = false;
};

class Graph {
 public:
  // The work that a change causes.
  struct Work {
    std::vector<Uid> deletions;  // objects whose owners have to be examined
    std::vector<Uid> orphans;    // owners whose dependants have to be released
  };

  // Records an object that was added or changed.
  Work put(std::string_view type, const Facts& facts);
  // Records that an object was deleted or does not exist.
  Work remove(const Uid& uid);

  std::optional<Item> find(const Uid& uid) const;
  bool contains(const Uid& uid) const { return lookup(uid) != kNone; }
  std::vector<Uid> dependents(const Uid& uid) const;
  // The dependants whose references block the owner's deletion.
  std::vector<Uid> blocking_dependents(const Uid& uid) const;

  // For a list of one resource, call begin_list(), then put() and note_listed() for each object, then end_list(). end_list() returns the
  // observed objects that the list lacks. `matches` returns true for the types of the resource. Lists of several resources may run at once.
  using TypeMatch = std::function<bool(std::string_view type)>;
  void begin_list(const TypeMatch& matches);
  void note_listed(const Uid& uid);
  std::vector<Uid> end_list(const TypeMatch& matches) const;

  std::size_t size() const noexcept { return count_; }
  // Returns the bytes of memory in use.
  std::size_t bytes() const noexcept;

 private:
  using Number = std::uint32_t;
  static constexpr Number kNone = 0;  // nodes and edges are numbered from 1
  enum Flag : std::uint32_t { kObserved = 1, kAbsent = 2, kDeleted = 4, kForeground = 8, kOrphan = 16, kPinned = 32, kListed = 64 };
  struct Node {
    Uid uid;
    std::uint32_t ns = 0;
    std::uint32_t type : 24 = 0;
    std::uint32_t flags : 8 = 0;
    Number owners = kNone;      // first edge to an owner
    Number dependents = kNone;  // first edge from a dependant
    std::uint32_t name = NamePool::kEmpty;
  };
  struct Edge {
    Number owner = kNone, dependent : 31 = kNone;
    Number blocks : 1 = 0;
    Number next_owner = kNone;              // the next edge from the same dependant
    Number next = kNone, previous = kNone;  // edges to the same owner
  };

  Number lookup(const Uid& uid) const;
  Number node_for(const Uid& uid, bool& made);
  void set_identity(Node& node, std::string_view type, std::string_view ns, std::string_view name);
  bool has_identity(const Node& node, std::string_view type, std::string_view ns, std::string_view name) const;
  void update_flags(Number number, const Facts& facts, Work& work);
  void update_owners(Number number, const Facts& facts, Work& work);
  void link(Number dependent, const OwnerRef& reference, Work& work);
  // Also frees the owner if it is not needed any more.
  void unlink(Number edge, Work& work);
  void drop_if_unused(Number number);
  void index(Number number);
  void unindex(const Uid& uid);
  void add_dependents(const Node& node, std::vector<Uid>& out) const;

  // The numbers in texts_ of the types for which `matches` returns true.
  std::vector<bool> matching_types(const TypeMatch& matches) const;

  RowTable<Node> nodes_;
  RowTable<Edge> edges_;
  std::vector<Number> slots_ = std::vector<Number>(16, kNone);  // open addressing by uid
  std::size_t count_ = 0;
  TextPool texts_;
  NamePool names_;
};

}  // namespace backplane::controllers::gc
