// The store enforces the rules of a structural schema regardless of the strategy: on create, update, status, scale and views.
#include "backplane/kit/strategy.hpp"
#include "registry/store_fixture.hpp"

namespace backplane::registry_test {
namespace {

constexpr std::string_view kThings = R"({"x-backplane-mode": "structural", "definitions": {
  "com.example.v1.Thing": {
    "x-kubernetes-group-version-kind": [{"group": "example.com", "version": "v1", "kind": "Thing"}],
    "type": "object", "required": ["spec"],
    "properties": {
      "apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object"},
      "spec": {"type": "object", "required": ["name"], "properties": {
        "name": {"type": "string", "minLength": 1, "pattern": "^[a-z]+$"},
        "size": {"type": "string", "enum": ["small", "large"]},
        "replicas": {"type": "integer", "format": "int32", "maximum": 5},
        "at": {"type": "string", "format": "date-time"},
        "note": {"type": "string", "nullable": true},
        "ports": {"type": "array", "items": {"type": "integer"}, "x-kubernetes-list-type": "set"}}},
      "status": {"type": "object", "properties": {"phase": {"type": "string", "enum": ["Up", "Down"]}}}}}}})";

std::shared_ptr<const SchemaSet> things() {
  static const std::shared_ptr<const SchemaSet> set = *SchemaSet::compile({&kThings, 1}, {meta_schemas()});
  return set;
}

class StructuralRulesTest : public StoreTest {
 protected:
  const Schema* type = things()->find(GroupVersionKind{"example.com", "v1", "Thing"});

  void make_things(KindFacts facts) {
    ResourceConfig config;
    config.kind = {"example.com", "v1", "Thing"};
    config.resource = "things";
    config.schema = type;
    config.strategy = std::make_shared<Strategy>(std::move(facts));
    auto made = make_store(environment, std::move(config));
    ASSERT_TRUE(made.ok()) << made.status().message();
    store = std::move(*made);
    environment.start(objects, hub, admission);
  }
  // The type and field of each error of a create with this spec; empty: the create succeeds.
  std::vector<std::string> wrong(const std::string& spec, const std::string& rest = "") {
    const auto created = create(thing(R"("name":"a")", R"(,"spec":)" + spec + rest));
    if (created.ok()) (void)remove("a");
    return created.ok() ? std::vector<std::string>() : causes(created.status());
  }
  static std::vector<std::string> causes(const Status& status) {
    std::vector<std::string> out;
    EXPECT_EQ(status.code(), 422) << status.message();
    for (const StatusCause& cause : status.details()->causes) out.push_back(cause.reason + " " + cause.field);
    return out;
  }
  using Causes = std::vector<std::string>;
};

TEST_F(StructuralRulesTest, ACreateThatTheSchemaForbidsIsInvalidWithItsCauses) {
  make_things({.status = true});
  EXPECT_EQ(wrong(R"({"name":"ok"})"), Causes());
  EXPECT_EQ(wrong(R"({})"), Causes{"FieldValueRequired spec.name"});
  EXPECT_EQ(wrong(R"({"name":""})"), Causes{"FieldValueInvalid spec.name"});
  EXPECT_EQ(wrong(R"({"name":"UP"})"), Causes{"FieldValueInvalid spec.name"});
  EXPECT_EQ(wrong(R"({"name":7})"), Causes{"FieldValueTypeInvalid spec.name"});
  EXPECT_EQ(wrong(R"({"name":"ok","size":"huge"})"), Causes{"FieldValueNotSupported spec.size"});
  EXPECT_EQ(wrong(R"({"name":"ok","replicas":6})"), Causes{"FieldValueInvalid spec.replicas"});
  EXPECT_EQ(wrong(R"({"name":"ok","at":"soon"})"), Causes{"FieldValueTypeInvalid spec.at"});
  EXPECT_EQ(wrong(R"({"name":"ok","ports":[1,1]})"), Causes{"FieldValueDuplicate spec.ports[1]"});
  EXPECT_EQ(wrong(R"({"name":"ok","note":null,"size":"small"})"), Causes());
  const auto refused = create(thing(R"("name":"a")"));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().message(), R"(Thing.example.com "a" is invalid: spec: Required value)");
}

TEST_F(StructuralRulesTest, AnUpdateMayKeepWhatWasWrongAndChangeTheRest) {
  make_things({.status = true});
  storage.put("/registry/example.com/things/default/a",
              thing(R"("name":"a","namespace":"default","uid":"u")", R"(,"spec":{"name":"UP","size":"small"})"));
  Change resize([](Object& object) { ensure_object(object, "spec")["size"] = "large"; });
  const auto kept = update("a", resize);
  ASSERT_TRUE(kept.ok()) << kept.status().message();
  Change again([](Object& object) { ensure_object(object, "spec")["name"] = "STILL"; });
  const auto refused = update("a", again);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(causes(refused.status()), Causes{"FieldValueInvalid spec.name"});
}

TEST_F(StructuralRulesTest, TheStatusOfAKindThatHasNoSubresourceIsHeldToItToo) {
  make_things({.status = false});
  EXPECT_EQ(wrong(R"({"name":"ok"})", R"(,"status":{"phase":"Sideways"})"), Causes{"FieldValueNotSupported status.phase"});
  EXPECT_EQ(wrong(R"({"name":"ok"})", R"(,"status":{"phase":"Up"})"), Causes());
}

TEST_F(StructuralRulesTest, AStatusWriteIsHeldToTheStatusAlone) {
  make_things({.status = true});
  ASSERT_TRUE(create(thing(R"("name":"a")", R"(,"spec":{"name":"ok"},"status":{"phase":"Sideways"})")).ok()) << "no create writes a status";
  auto made =
      make_subresource_store(store, std::make_shared<kit::StatusStrategy>(std::make_shared<Strategy>(KindFacts{.status = true})), nullptr);
  ASSERT_TRUE(made.ok());
  const auto update_status = [&](const char* phase) {
    Change info([phase](Object& object) { ensure_object(object, "status")["phase"] = phase; });
    context = request("update");
    context->info.subresource = "status";
    return run(dynamic_cast<Updater&>(**made).update(*context, "a", info, {}, false));
  };
  EXPECT_TRUE(update_status("Down").ok());
  const auto refused = update_status("Sideways");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(causes(refused.status()), Causes{"FieldValueNotSupported status.phase"});
}

TEST_F(StructuralRulesTest, AScaleThatTheSchemaForbidsIsInvalid) {
  make_things({.status = true});
  ASSERT_TRUE(create(thing(R"("name":"a")", R"(,"spec":{"name":"ok","replicas":1})")).ok());
  auto made = make_scale_store(store, {});
  ASSERT_TRUE(made.ok());
  Change info([](Object& object) { ensure_object(object, "spec")["replicas"] = 9; });
  context = request("update");
  context->info.subresource = "scale";
  const auto refused = run(dynamic_cast<Updater&>(**made).update(*context, "a", info, {}, false));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(causes(refused.status()), Causes{"FieldValueInvalid spec.replicas"});
}

TEST_F(StructuralRulesTest, AStrategyThatValidatesBySchemaItselfIsNotValidatedTwice) {
  make_things({.checked = ObjectPart::kNone});
  EXPECT_EQ(wrong(R"({"name":"UP"})"), Causes());
}

}  // namespace
}  // namespace backplane::registry_test
