// For tests: FieldUpdater on a resource whose versions the test defines.
#pragma once

#include <gtest/gtest.h>

#include "base/io_loop.hpp"
#include "registry/fields/field_owners.hpp"

namespace backplane::registry_test {

using namespace registry;

inline std::shared_ptr<const SchemaSet> structural_set(const std::string& schema) {
  const std::string document = R"({"x-backplane-mode": "structural", "definitions": {"Foo": )" + schema + "}}";
  const std::string_view documents[] = {document};
  auto set = SchemaSet::compile(documents);
  EXPECT_TRUE(set.ok()) << set.status().message();
  return set.ok() ? *set : nullptr;
}

inline Object object_of(std::string_view text) { return json::parse(text).as_object(); }
inline FieldSet set_of(std::string_view text) {
  auto set = FieldSet::decode(text);
  EXPECT_TRUE(set.ok()) << text;
  return set.ok() ? *set : FieldSet();
}

// A conversion between "v1" and "v2" renames a member of spec.
class TestVersions final : public FieldVersions {
 public:
  void serve(std::string version, std::shared_ptr<const SchemaSet> set) { sets[std::move(version)] = std::move(set); }
  std::optional<const Schema*> type_of(const std::string& api_version) const override {
    const auto found = sets.find(api_version);
    if (found == sets.end()) return std::nullopt;
    return found->second == nullptr ? nullptr : found->second->find("Foo");
  }
  Task<Result<Object>> convert(const Object& object, std::string api_version) const override {
    ++conversions;
    Result<Object> out = object;
    if (!failure.empty()) out = Status(500, Reason::kInternalError, failure);
    if (out.ok()) rename(*out, api_version == "v2");
    co_return out;
  }

  std::map<std::string, std::shared_ptr<const SchemaSet>> sets;
  std::string failure;
  mutable int conversions = 0;

 private:
  // The member "old" of v1 is the member "new" of v2.
  static void rename(Object& object, bool to_new) {
    Value* found = find(object, "spec");
    if (found == nullptr || !found->is_object()) return;
    Object& spec = found->get_object();
    const Value* value = find(spec, to_new ? "old" : "new");
    if (value == nullptr) return;
    Value moved = *value;
    spec.erase(to_new ? "old" : "new");
    spec[to_new ? "new" : "old"] = std::move(moved);
  }
};

class FieldOwnersTest : public testing::Test {
 protected:
  FieldOwnersTest() { loop_.start(); }
  ~FieldOwnersTest() override { loop_.stop(); }

  Result<FieldOwners> update(const Object& next, const std::string& owner, const std::string& version = "v1") {
    auto out = run_on(loop_, FieldUpdater(versions, filters).update(live, next, version, owners, owner));
    if (out.ok()) {
      owners = *out;
      live = next;
    }
    return out;
  }
  Result<AppliedFields> apply(const Object& config, const std::string& owner, bool force = false, const std::string& version = "v1") {
    auto out = run_on(loop_, FieldUpdater(versions, filters).apply(live, config, version, owners, owner, force));
    if (out.ok() && out->conflicts.empty()) {
      owners = out->owners;
      if (out->object) live = *out->object;
    }
    return out;
  }
  std::string fields(const std::string& owner) const {
    const auto found = owners.find(owner);
    return found == owners.end() ? "" : found->second.fields.encode();
  }
  std::string spec() const { return to_json(live.at("spec")); }

  IoLoop loop_{"test"};
  TestVersions versions;
  const std::map<std::string, FieldFilter>* filters = nullptr;
  FieldOwners owners;
  Object live = object_of(R"({"spec":{}})");
};

}  // namespace backplane::registry_test
