// Random schemas, objects and histories of writes, compared with the reference rules of slow_rules.hpp.
#include <random>

#include "registry/fields/field_owners_fixture.hpp"
#include "registry/fields/slow_rules.hpp"

namespace backplane::registry_test {
namespace {

constexpr int kSchemas = 1000;
constexpr int kWrites = 4;

class Dice {
 public:
  explicit Dice(unsigned seed) : engine_(seed) {}
  int below(int bound) { return static_cast<int>(engine_() % static_cast<unsigned>(bound)); }
  bool chance(int percent) { return below(100) < percent; }

 private:
  std::mt19937 engine_;
};

// A random schema, and random objects that it allows. Members have names from a to h; nested members have fewer kinds of types.
class RandomSchema {
 public:
  explicit RandomSchema(Dice& dice) : dice_(dice), spec_(fields(3, 2 + dice.below(4))) {}
  std::string text() const { return R"({"type":"object","properties":{"spec":)" + to_json(spec_) + "}}"; }
  Value object() { return Object({{"spec", value(spec_)}}); }

 private:
  Object fields(int depth, int count) {
    Object properties;
    for (int i = 0; i < count; ++i) properties[std::string(1, static_cast<char>('a' + dice_.below(8)))] = type(depth);
    return {{"type", "object"}, {"properties", properties}};
  }
  static Object text_type() { return {{"type", "string"}}; }

  Object type(int depth) {
    const int kind = dice_.below(depth > 0 ? 9 : 4);
    if (kind == 0) return {{"type", "integer"}};
    if (kind == 1) return {{"type", "array"}, {"items", text_type()}, {"x-kubernetes-list-type", "set"}};
    if (kind == 2) return {{"type", "array"}, {"items", text_type()}};
    if (kind == 3) return text_type();
    if (kind == 4) return {{"type", "object"}, {"additionalProperties", text_type()}};
    if (kind == 5) {
      Object out = fields(depth - 1, 2);
      out["x-kubernetes-map-type"] = "atomic";
      return out;
    }
    if (kind <= 7) return map_list(depth);
    return fields(depth - 1, 1 + dice_.below(3));
  }
  Object map_list(int depth) {
    Object item = fields(depth - 1, 2);
    Object& properties = item["properties"].as_object();
    properties["k"] = text_type();
    properties["l"] = Object({{"type", "string"}, {"default", "D"}});
    const Array keys = dice_.chance(50) ? Array{"k"} : Array{"k", "l"};
    return {{"type", "array"}, {"items", item}, {"x-kubernetes-list-type", "map"}, {"x-kubernetes-list-map-keys", keys}};
  }

  Value value(const Object& type) {
    const std::string_view kind = get_string(type, "type");
    if (kind == "string") return Value(std::string(1, static_cast<char>('x' + dice_.below(3))));
    if (kind == "integer") return Value(dice_.below(3));
    if (kind == "array") return list(type);
    // Generated objects and lists are never empty: a write that empties one sets it to null, and a later apply of an empty one would create
    // it again.
    Object out;
    while (out.empty()) {
      if (const Object* values = get_object(type, "additionalProperties")) {
        for (const char* const key : {"m", "n", "o"}) {
          if (dice_.chance(50)) out[key] = value(*values);
        }
        continue;
      }
      for (const auto& each : type.at("properties").as_object()) {
        if (each.key() == "k" || each.key() == "l")
          out.emplace(each.key(), "p");  // of an item, by which it is identified
        else if (dice_.chance(55))
          out[each.key()] = value(each.value().as_object());
      }
    }
    return out;
  }
  Value list(const Object& type) {
    Array out;
    const Object& items = type.at("items").as_object();
    std::set<std::string> seen;
    for (int i = 1 + dice_.below(3); i > 0; --i) {
      Value item = value(items);
      std::string identity = to_json(item);
      if (item.is_object()) {
        Object& members = item.get_object();
        members["k"] = std::string(1, static_cast<char>('p' + dice_.below(3)));
        const bool explicit_key = dice_.chance(50);
        members.erase("l");
        if (explicit_key) members["l"] = dice_.chance(50) ? "D" : "E";
        identity = members.at("k").as_string().c_str();
        if (type.at("x-kubernetes-list-map-keys").as_array().size() == 2)
          identity += explicit_key ? members.at("l").as_string().c_str() : "D";
      }
      if (get_string(type, "x-kubernetes-list-type").empty() || seen.insert(identity).second) out.push_back(std::move(item));
    }
    return out;
  }

  Dice& dice_;
  Object spec_;

 public:
  // The object as paths.
  Flat flat(const Object& object) const {
    Flat out;
    if (const Value* spec = find(object, "spec")) flatten(spec_, *spec, "/spec", "{", out);
    return out;
  }

 private:
  // `holder`: the value in Flat that represents this value if it has members: "{" or "(" (slow_rules.hpp).
  static void flatten(const Object& type, const Value& value, const std::string& path, const char* holder, Flat& out) {
    const std::string_view list = get_string(type, "x-kubernetes-list-type");
    if (value.is_object() && !type.contains("x-kubernetes-map-type")) {
      out[path] = holder;
      for (const auto& member : value.get_object()) {
        const Object* values = get_object(type, "additionalProperties");
        const Object& next = values != nullptr ? *values : type.at("properties").at(member.key()).as_object();
        flatten(next, member.value(), path + "/" + std::string(member.key()), "{", out);
      }
    } else if (value.is_array() && !list.empty()) {
      out[path] = "[";
      for (const Value& item : value.get_array()) flatten(type.at("items").as_object(), item, path + "/" + step(type, item), "(", out);
    } else {
      out[path] = to_json(value);
    }
  }
  static std::string step(const Object& type, const Value& item) {
    if (!item.is_object()) return "[=" + to_json(item) + "]";
    std::string out = "[k=" + to_json(item.at("k"));
    if (type.at("x-kubernetes-list-map-keys").as_array().size() == 2) {
      const Value* second = find(item.get_object(), "l");
      out += ",l=" + (second != nullptr ? to_json(*second) : "\"D\"");
    }
    return out + "]";
  }
};

Paths paths_of(const FieldSet& set) {
  Paths out;
  set.for_each([&](std::span<const PathElement> path) {
    std::string text;
    for (const PathElement& element : path) {
      text += '/';
      if (element.kind() == PathElement::Kind::kField)
        text += element.name();
      else
        element.append_text(text);
    }
    out.insert(text);
  });
  return out;
}

SlowOwners slow(const FieldOwners& owners) {
  SlowOwners out;
  for (const auto& [id, owner] : owners) out[id] = SlowOwner{paths_of(owner.fields), owner.applied};
  return out;
}

// Removes nulls, as decoding does for members that are not nullable.
void drop_nulls(Value& value) {
  if (value.is_array()) {
    for (Value& item : value.get_array()) drop_nulls(item);
  } else if (value.is_object()) {
    Object kept;
    for (auto& member : value.get_object()) {
      if (member.value().is_null()) continue;
      drop_nulls(member.value());
      kept.emplace(member.key(), member.value());
    }
    value = std::move(kept);
  }
}

class Model : public FieldOwnersTest {
 protected:
  void start(RandomSchema& schema) {
    versions.serve("v1", structural_set(schema.text()));
    owners.clear();
    live = object_of(R"({"spec":{}})");
    slow_owners_.clear();
    slow_live_ = schema.flat(live);
  }

  void write(RandomSchema& schema, Dice& dice) {
    const Value object = schema.object();
    const bool applies = dice.chance(75);
    const std::string owner = std::string(1, static_cast<char>('A' + dice.below(3))) + (applies ? "-apply" : "-update");
    if (applies)
      check_apply(schema, object.get_object(), owner, dice.chance(30));
    else
      check_update(schema, object.get_object(), owner);
    EXPECT_EQ(schema.flat(live), slow_live_);
    EXPECT_EQ(slow(owners), slow_owners_);
    for (const auto& [id, each] : owners) {
      const auto read = FieldSet::decode(each.fields.encode());
      ASSERT_TRUE(read.ok());
      EXPECT_EQ(*read, each.fields) << id;
    }
  }

 private:
  void check_update(RandomSchema& schema, const Object& object, const std::string& owner) {
    ASSERT_TRUE(update(object, owner).ok());
    slow_update(slow_live_, schema.flat(object), slow_owners_, owner);
  }

  void check_apply(RandomSchema& schema, const Object& object, const std::string& owner, bool force) {
    const Flat before = slow_live_;
    const SlowOwners owned = slow_owners_;
    const auto applied = apply(object, owner, force);
    ASSERT_TRUE(applied.ok()) << applied.status().message();
    Value now = live;
    drop_nulls(now);
    live = now.as_object();
    std::set<std::string> conflicts;
    for (const FieldConflict& each : applied->conflicts) {
      for (const std::string& path : paths_of(each.fields)) conflicts.insert(each.owner + " " + path);
    }
    EXPECT_EQ(conflicts, slow_apply(slow_live_, schema.flat(object), slow_owners_, owner, force));
    if (!conflicts.empty()) return;
    if (!force) check_kept(before, owned, owner, schema.flat(live));
    const auto again = apply(object, owner, force);
    ASSERT_TRUE(again.ok());
    EXPECT_FALSE(again->object.has_value()) << "applied twice, it changes nothing";
  }

  // Expects that, without force, no owner loses a value if it also owns the list items that contain the value.
  static void check_kept(const Flat& before, const SlowOwners& owned, const std::string& owner, const Flat& after) {
    for (const auto& [id, other] : owned) {
      if (id == owner) continue;
      for (const std::string& path : other.paths) {
        const auto was = before.find(path);
        if (was == before.end() || holds(was->second) || !owns_items(other.paths, path)) continue;
        const auto is = after.find(path);
        EXPECT_TRUE(is != after.end() && is->second == was->second) << id << " " << path;
      }
    }
  }
  static bool owns_items(const Paths& paths, const std::string& path) {
    for (std::string up = parent_of(path); !up.empty(); up = parent_of(up)) {
      if (up[up.rfind('/') + 1] == '[' && paths.count(up) == 0) return false;
    }
    return true;
  }

  Flat slow_live_;
  SlowOwners slow_owners_;
};

TEST_F(Model, WritesDoWhatTheRulesSay) {
  for (int seed = 0; seed < kSchemas && !HasFailure(); ++seed) {
    Dice dice(static_cast<unsigned>(seed));
    RandomSchema schema(dice);
    start(schema);
    for (int i = 0; i < kWrites && !HasFailure(); ++i) {
      write(schema, dice);
      if (HasFailure()) ADD_FAILURE() << "schema " << seed << ", write " << i << ": " << schema.text();
    }
  }
}

}  // namespace
}  // namespace backplane::registry_test
