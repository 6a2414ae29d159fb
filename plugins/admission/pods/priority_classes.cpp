#include "pods/priority_classes.hpp"

#include "backplane/kit/published.hpp"

namespace backplane::admission::pods {
namespace {

using ClassMap = std::map<std::string, PriorityClass, std::less<>>;

bool is_lower_default(const PriorityClass& each, const PriorityClass* lowest) {
  return each.global_default && (lowest == nullptr || lowest->value > each.value);
}

}  // namespace

PriorityClass priority_class_of(const ObjectEntry& entry) {
  const Object tree = decode(entry, {});
  PriorityClass out;
  out.name = meta_name(tree);
  out.value = get_int(tree, "value").value_or(0);
  out.preemption_policy = get_string(tree, "preemptionPolicy");
  out.global_default = get_bool(tree, "globalDefault").value_or(false);
  return out;
}

std::optional<PriorityClass> global_default_of(const std::vector<ObjectRef>& entries) {
  std::optional<PriorityClass> lowest;
  for (const ObjectRef& entry : entries) {
    PriorityClass each = priority_class_of(*entry);
    if (is_lower_default(each, lowest ? &*lowest : nullptr)) lowest = std::move(each);
  }
  return lowest;
}

struct PriorityClasses::State {
  void put(const ObjectEntry& entry) {
    auto next = std::make_shared<ClassMap>(*classes.get());
    (*next)[std::string(entry.name())] = priority_class_of(entry);
    classes.set(std::move(next));
  }
  void remove(const ObjectEntry& entry) {
    auto next = std::make_shared<ClassMap>(*classes.get());
    next->erase(std::string(entry.name()));
    classes.set(std::move(next));
  }
  kit::Published<ClassMap> classes{std::make_shared<const ClassMap>()};
};

PriorityClasses::PriorityClasses(const Lister& lister) : state_(std::make_shared<State>()) {
  ResourceEventHandler handler;
  handler.on_add = [state = state_](const ObjectRef& object, bool) { state->put(*object); };
  handler.on_update = [state = state_](const ObjectRef&, const ObjectRef& now) { state->put(*now); };
  handler.on_delete = [state = state_](const ObjectRef& last, bool) { state->remove(*last); };
  lister.informer()->add_event_handler(std::move(handler));
}

std::optional<PriorityClass> PriorityClasses::find(std::string_view name) const {
  const auto classes = state_->classes.get();
  const auto found = classes->find(name);
  return found == classes->end() ? std::nullopt : std::optional<PriorityClass>(found->second);
}

std::optional<PriorityClass> PriorityClasses::global_default() const {
  const auto classes = state_->classes.get();
  const PriorityClass* lowest = nullptr;
  for (const auto& [name, each] : *classes) {
    if (is_lower_default(each, lowest)) lowest = &each;
  }
  return lowest == nullptr ? std::nullopt : std::optional<PriorityClass>(*lowest);
}

}  // namespace backplane::admission::pods
