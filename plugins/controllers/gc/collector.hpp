// The garbage collector: the monitors that maintain the graph, and the workers that examine its changes.
//
// Each type has a separate queue with workers. If a call for a type fails, examinations of other types make no call for that type during
// kFailurePause. So a conversion webhook or an aggregated server that does not respond delays no other type. Without changes no task runs.
// Thread-safety: the plugin's executor.
// Lifetime:      shared by its tasks; ends with the term.
// Errors:        an object that cannot be examined or deleted is retried with growing delays. An object whose owner has a type that is not
//                served is examined again when the served types change.
// Source:        k8s.io/kubernetes/pkg/controller/garbagecollector.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "frame/events.hpp"
#include "gc/graph.hpp"
#include "gc/monitor.hpp"

namespace backplane::controllers::gc {

class Collector : public std::enable_shared_from_this<Collector> {
 public:
  explicit Collector(const Context& context);
  void start();

  // Many, so that the store writes several deletions together.
  static constexpr int kWorkersPerType = 40;
  static constexpr std::chrono::seconds kFailurePause{5}, kFirstListsLimit{30};

 private:
  using Clock = std::chrono::steady_clock;

  // ---- the graph (collector.cpp)
  Task<void> follow_types();
  void apply_types(ServedTypes types);
  void follow(const GroupResource& resource, const Collectable& collectable);
  void take_event(const ServedType& type, const WatchEvent& event, bool initial);
  void begin_list(const ServedType& type);
  void take_list(const ServedType& type);
  void schedule(const Graph::Work& work);
  void schedule(const Uid& uid, char task);
  const std::shared_ptr<WorkQueue>& lane(const std::string& type);
  // True if every monitor has its first list or has failed, or if kFirstListsLimit has passed.
  bool first_lists_done() const;
  void types_changed();

  // ---- examinations (examination.cpp); keys are a task letter and a uid
  Task<Status> examine(std::string key);
  Task<Status> collect(Item item);
  Task<Status> delete_unowned(Item item, Facts live, ServedType type);
  struct Classes {
    std::vector<std::string> solid, dangling, waiting;  // uids
    bool unresolvable = false;                          // retrying has no effect
  };
  Task<Result<Classes>> classify(Item item, Facts live);
  Task<Status> finish_foreground(Item item, ServedType type);

  // ---- calls (calls.cpp)
  // read_tree() and read() return an object's metadata. An empty object, or an empty uid, means that the object does not exist.
  Task<Result<Object>> read_tree(ServedType type, std::string ns, std::string name);
  Task<Result<Facts>> read(ServedType type, std::string ns, std::string name);
  Task<Status> remove_object(ServedType type, Facts live, std::string policy);
  Task<Status> drop_owners(ServedType type, std::string ns, std::string name, Uid uid, std::vector<std::string> owners);
  Task<Status> unblock_owners(ServedType type, Item item);
  Task<Status> drop_finalizer(ServedType type, Item item, std::string_view finalizer);
  Task<Status> release_dependents(Item item, ServedType type);
  Task<Status> patch(ServedType type, std::string ns, std::string name, Object metadata);
  void note_call(const ServedType& type, const Status& status);
  bool is_failing(const ServedType& type) const;
  void report_namespace(const Item& item, const OwnerRef& owner);

  static std::string absent_key(std::string_view ns, const OwnerRef& owner);
  void note_absent(std::string key);

  Context context_;
  EventRecorder events_;
  Graph graph_;
  ServedTypes types_;
  std::map<GroupResource, std::shared_ptr<Monitor>> monitors_;
  std::map<std::string, std::shared_ptr<WorkQueue>> lanes_;  // by type
  std::map<GroupResource, Clock::time_point> failing_until_;
  std::set<std::string> parked_;                // keys that wait for a type to be served
  std::unordered_set<std::string> absent_;      // owners that do not exist
  std::shared_ptr<Promise<bool>> type_change_;  // set while follow_types() waits
  bool types_dirty_ = true;
  const Clock::time_point started_ = Clock::now();
};

}  // namespace backplane::controllers::gc
