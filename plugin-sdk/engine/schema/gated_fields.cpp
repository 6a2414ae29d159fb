// Feature gates and the members of types that they switch.
//
// of() walks the types once and stores the path to each member whose gate has an effect; apply() walks objects along these paths only:
// first the old object, to find the features that it uses, then the new one.
#include "engine/gated_fields.hpp"

#include <algorithm>
#include <map>

#include "schema/scalars.hpp"
#include "schema/type.hpp"

namespace backplane BACKPLANE_API {

struct GatedFields::Plan {
  struct Node;
  struct Member {
    const schema::Property* property = nullptr;
    const schema::Gated* gated = nullptr;  // null: only an inner node
    int feature = -1;                      // index of the disabled feature; -1: the gate is on
    const Node* inside = nullptr;
  };
  struct Node {
    std::vector<Member> members;  // the members of a struct
    const Node* items = nullptr;  // the items of a list, or the values of a map
    bool leads = false;           // whether the node leads to a member that a gate changes
  };
  std::map<const schema::Type*, std::unique_ptr<Node>> nodes;
  const Node* root = nullptr;
  std::vector<const void*> features;  // an identity of each feature that is off

  int feature(const void* key) {
    const auto found = std::find(features.begin(), features.end(), key);
    if (found != features.end()) return static_cast<int>(found - features.begin());
    features.push_back(key);
    return static_cast<int>(features.size()) - 1;
  }
};

namespace {

using schema::Gated;
using schema::Property;
using schema::Type;

class Planner {
 public:
  using Plan = GatedFields::Plan;
  Planner(Plan& plan, const GatedFields::Gates& enabled) : plan_(plan), enabled_(enabled) {}

  void plan(const Type& type) {
    plan_.root = node_of(type);
    // Types may be recursive, so `leads` is computed as a fixed point.
    for (bool again = true; again;) {
      again = false;
      for (auto& [_, node] : plan_.nodes) again = mark(*node) || again;
    }
    for (auto& [_, node] : plan_.nodes) {
      const auto idle = [](const Plan::Member& member) { return member.gated == nullptr && !member.inside->leads; };
      node->members.erase(std::remove_if(node->members.begin(), node->members.end(), idle), node->members.end());
    }
  }

 private:
  using Node = Plan::Node;

  const Node* node_of(const Type& type) {
    if (!type.gated_within()) return nullptr;
    const auto [place, added] = plan_.nodes.try_emplace(&type, nullptr);
    if (!added) return place->second.get();
    Node& node = *(place->second = std::make_unique<Node>());
    const schema::Body& body = type.body();
    if (body.items != nullptr) node.items = node_of(*body.items);
    for (const Property& property : body.properties) {
      Plan::Member member{&property, nullptr, -1, node_of(*property.type)};
      if (property.gated != nullptr) look_at(*property.gated, member);
      if (member.gated != nullptr || member.inside != nullptr) node.members.push_back(member);
    }
    return &node;
  }

  void look_at(const Gated& gated, Plan::Member& member) {
    const bool on = std::all_of(gated.gates.begin(), gated.gates.end(), [&](const std::string& gate) { return is_on(gate); });
    if (on && gated.default_value == nullptr) return;
    member.gated = &gated;
    if (on) return;
    const auto alike = gated.together ? together_.try_emplace(gated.gates, &gated).first->second : &gated;
    member.feature = plan_.feature(alike);
  }

  bool is_on(const std::string& gate) {
    const auto [place, added] = on_.try_emplace(gate, false);
    if (added) place->second = enabled_(gate);
    return place->second;
  }

  // True if `leads` was set now.
  static bool mark(Node& node) {
    if (node.leads) return false;
    const auto active = [](const Plan::Member& member) {
      return member.gated != nullptr || (member.inside != nullptr && member.inside->leads);
    };
    node.leads = (node.items != nullptr && node.items->leads) || std::any_of(node.members.begin(), node.members.end(), active);
    return node.leads;
  }

  Plan& plan_;
  const GatedFields::Gates& enabled_;
  std::map<std::string, bool> on_;
  std::map<std::vector<std::string>, const Gated*> together_;
};

}  // namespace

namespace {

using Node = GatedFields::Plan::Node;
using Member = GatedFields::Plan::Member;

bool is_set(const Value* value, bool pointer) { return value != nullptr && !value->is_null() && (pointer || !schema::is_zero(*value)); }

bool uses(const Member& member, const Object& object, const Value* value) {
  const Gated& gated = *member.gated;
  const auto there = [&](const std::string& name) { return is_set(find(object, name), true); };
  if (std::any_of(gated.also.begin(), gated.also.end(), there)) return true;
  if (!is_set(value, member.property->pointer)) return false;
  return gated.except.empty() || std::find(gated.except.begin(), gated.except.end(), *value) == gated.except.end();
}

class Users {
 public:
  explicit Users(std::size_t features) : used_(features, false) {}

  void look(const Node& node, const Value& value) {
    if (!node.leads) return;
    if (value.is_array()) {
      for (const Value& item : value.get_array()) check_members(node.items, item);
    } else if (value.is_object()) {
      look(node, value.get_object());
    }
  }
  void look(const Node& node, const Object& object) {
    if (node.items != nullptr) {
      for (const auto& entry : object) check_members(node.items, entry.value());
    }
    for (const Member& member : node.members) {
      const Value* value = find(object, member.property->name);
      if (member.feature >= 0 && uses(member, object, value)) used_[static_cast<std::size_t>(member.feature)] = true;
      if (value != nullptr) check_members(member.inside, *value);
    }
  }
  bool uses_feature(int feature) const { return used_[static_cast<std::size_t>(feature)]; }

 private:
  void check_members(const Node* node, const Value& value) {
    if (node != nullptr) look(*node, value);
  }
  std::vector<bool> used_;
};

class FieldDropper {
 public:
  explicit FieldDropper(const Users& users) : users_(users) {}

  // True: the enclosing value is empty now and must be removed too.
  bool drop(const Node& node, Value& value) const {
    if (!node.leads) return false;
    if (value.is_array() && node.items != nullptr) {
      for (Value& item : value.get_array()) drop(*node.items, item);
    }
    return value.is_object() && drop(node, value.get_object());
  }
  bool drop(const Node& node, Object& object) const {
    bool emptied = false;
    if (node.items != nullptr) {
      for (auto& entry : object) drop(*node.items, entry.value());
    }
    for (const Member& member : node.members) {
      Value* value = find(object, member.property->name);
      if (value == nullptr || value->is_null()) {
        set_default(member, object);
      } else if (goes(member, *value)) {
        erase_member(object, member.property->name);
        emptied = emptied || member.gated->holder;
      } else if (member.inside != nullptr && drop(*member.inside, *value)) {
        erase_member(object, member.property->name);
      }
    }
    return emptied && std::all_of(object.begin(), object.end(), [](const auto& left) { return left.value().is_null(); });
  }

 private:
  static void set_default(const Member& member, Object& object) {
    if (member.gated == nullptr || member.feature >= 0 || member.gated->default_value == nullptr) return;
    object[member.property->name] = *member.gated->default_value;
  }
  bool goes(const Member& member, const Value& value) const {
    if (member.feature < 0 || users_.uses_feature(member.feature)) return false;
    const Gated& gated = *member.gated;
    if (std::find(gated.except.begin(), gated.except.end(), value) != gated.except.end()) return false;
    return gated.having.empty() || (value.is_object() && is_set(find(value.get_object(), gated.having), false));
  }

  const Users& users_;
};

}  // namespace

GatedFields::GatedFields(std::unique_ptr<const Plan> plan) : plan_(std::move(plan)) {}
GatedFields::~GatedFields() = default;

std::unique_ptr<const GatedFields> GatedFields::of(const Schema& schema, const Gates& enabled) {
  const Type* type = schema.structural() ? nullptr : schema.compiled();
  if (type == nullptr || !type->gated_within()) return nullptr;
  auto plan = std::make_unique<Plan>();
  Planner(*plan, enabled).plan(*type);
  if (!plan->root->leads) return nullptr;
  return std::unique_ptr<const GatedFields>(new GatedFields(std::move(plan)));
}

void GatedFields::apply(Object& object, const Object* old) const {
  Users users(plan_->features.size());
  if (old != nullptr) users.look(*plan_->root, *old);
  FieldDropper(users).drop(*plan_->root, object);
}

}  // namespace BACKPLANE_API
