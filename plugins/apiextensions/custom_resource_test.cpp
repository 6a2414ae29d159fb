#include "custom_resource.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "backplane/net/forwarding_exchange.hpp"
#include "converter.hpp"
#include "custom_strategy.hpp"
#include "fake_host.hpp"

namespace backplane::apiextensions {
namespace {

// A connection that counts how often it is checked.
class RecordingExchange final : public ForwardingExchange {
 public:
  RecordingExchange() : ForwardingExchange(static_cast<Exchange&>(*this)) {}  // not a copy of itself
  bool peer_gone() const noexcept override {
    ++closed_calls;
    return gone;
  }
  mutable int closed_calls = 0;
  bool gone = false;
};

std::shared_ptr<const CustomResource> resource() {
  const Object crd = json::parse(R"({"spec":{"group":"mv.example.com","scope":"Namespaced","names":{"plural":"things","kind":"Thing"},
    "versions":[{"name":"v1alpha1","served":true,"storage":false,"deprecated":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"a":{"type":"string"}}}}},
      {"name":"v1","served":true,"storage":true,"subresources":{"status":{},"scale":{"specReplicasPath":".spec.size","statusReplicasPath":".status.replicas"}},
       "selectableFields":[{"jsonPath":".spec.color"}],
       "schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","required":["size"],"properties":{
         "size":{"type":"integer","maximum":10},"color":{"type":"string","default":"red"}}},
         "status":{"type":"object","properties":{"replicas":{"type":"integer"}}}}}}},
      {"name":"v2beta1","served":false,"storage":false,"schema":{"openAPIV3Schema":{"type":"object"}}}]},
    "status":{"acceptedNames":{"plural":"things","singular":"thing","kind":"Thing","listKind":"ThingList"}}})")
                         .as_object();
  auto read = read_resource(crd, std::make_shared<SchemaSource>(make_object(crd)), std::make_shared<Writes>());
  EXPECT_TRUE(read.ok()) << read.status().message();
  return *read;
}

Object thing(const std::string& rest, const std::string& version = "v1") {
  return json::parse(R"({"apiVersion":"mv.example.com/)" + version + R"(","kind":"Thing","metadata":{"name":"t"})" + rest + "}")
      .as_object();
}

TEST(CustomResourceTest, ReadsAllVersions) {
  const auto read = resource();
  EXPECT_EQ(read->versions.size(), 3u);
  EXPECT_EQ(read->stored().kind.version, "v1");
  EXPECT_EQ(read->find("v1alpha1")->deprecation_warning, "mv.example.com/v1alpha1 Thing is deprecated; use mv.example.com/v1 Thing");
  ASSERT_NE(read->find("v2beta1"), nullptr) << "objects may be stored in it";
  EXPECT_FALSE(read->find("v2beta1")->served);
  ASSERT_EQ(read->fields().size(), 1u);
  EXPECT_EQ(read->fields()[0].label, "spec.color");
}

TEST(CustomResourceTest, ValidatesAgainstTheSchemaAndTheScale) {
  const auto read = resource();
  FieldErrors errors;
  std::vector<std::string> warnings;
  validate_custom(read->stored(), thing(R"(,"spec":{"size":11})"), {errors, warnings});
  EXPECT_EQ(errors.aggregate_message(), "spec.size: Invalid value: 11: spec.size in body should be less than or equal to 10");
  FieldErrors scale;
  validate_custom(read->stored(), thing(R"(,"spec":{"size":"x"})"), {scale, warnings});
  EXPECT_NE(
      scale.aggregate_message().find(".spec.size: Invalid value: 0: .spec.size accessor error: x is of the type string, expected int64"),
      std::string::npos)
      << scale.aggregate_message();
}

// Regression: null was treated as absent, and the message had the whole path.
TEST(CustomResourceTest, ErrorsOfScalePathsNameTheValueAtWhichThePathEnds) {
  CustomVersion version = resource()->stored();
  version.schema = resource()->find("v2beta1")->schema;
  version.rules = nullptr;
  const auto problems = [&](const std::string& spec, const std::string& path) {
    version.scale->spec_replicas = path;
    FieldErrors errors;
    std::vector<std::string> warnings;
    validate_custom(version, thing(R"(,"spec":)" + spec), {errors, warnings});
    return errors.aggregate_message();
  };
  EXPECT_NE(problems(R"({"size":null})", ".spec.size").find(".spec.size accessor error: <nil> is of the type <nil>, expected int64"),
            std::string::npos);
  EXPECT_NE(problems(R"({"size":[1,{"b":true}]})", ".spec.size.a.b")
                .find(".spec.size.a accessor error: [1 map[b:true]] is of the type []interface {}, expected map[string]interface{}"),
            std::string::npos);
  EXPECT_EQ(problems("null", ".spec.size").find("accessor"), std::string::npos);
}

// Regression: messages had the path from the root of the object.
TEST(CustomResourceTest, MessagesAboutAStatusNameItFromThereOn) {
  const auto read = resource();
  FieldErrors errors;
  std::vector<std::string> warnings;
  validate_custom_status(read->stored(), thing(R"(,"status":{"replicas":"x"})"), thing(""), {errors, warnings});
  EXPECT_NE(
      errors.aggregate_message().find(R"(status.replicas: Invalid value: "string": replicas in body must be of type integer: "string")"),
      std::string::npos)
      << errors.aggregate_message();
  FieldErrors whole;
  validate_custom_status(read->stored(), thing(R"(,"status":7)"), thing(""), {whole, warnings});
  EXPECT_NE(whole.aggregate_message().find(R"(status: Invalid value: "integer":  in body must be of type object: "integer")"),
            std::string::npos)
      << whole.aggregate_message();
}

TEST(CustomResourceTest, AnUpdateMayKeepAnInvalidValueUnchanged) {
  const auto read = resource();
  FieldErrors errors;
  std::vector<std::string> warnings;
  const Object old = thing(R"(,"spec":{"size":11})");
  validate_custom_update(read->stored(), thing(R"(,"spec":{"size":11,"color":"blue"})"), old, {errors, warnings});
  EXPECT_TRUE(errors.empty());
  validate_custom_update(read->stored(), thing(R"(,"spec":{"size":12})"), old, {errors, warnings});
  EXPECT_EQ(errors.size(), 1u);
}

TEST(CustomStrategyTest, ContentRaisesTheGenerationAndMetadataDoesNot) {
  const auto strategy = make_custom_strategy(resource());
  RequestContext context;
  Object old = thing(R"(,"spec":{"size":1,"color":"red"},"status":{"replicas":1})");
  ObjectMeta(old).set_generation(4);
  Object labelled = thing(R"(,"spec":{"size":1,"color":"red"},"status":{"replicas":9})");
  ObjectMeta(labelled).set_generation(4);
  const auto read = resource();
  make_version_strategy(read, read->stored())->prepare_for_update(context, labelled, old);
  EXPECT_EQ(get_int_path(labelled, "status.replicas"), 1) << "status is a subresource of this version";
  strategy->prepare_for_update(context, labelled, old);
  EXPECT_EQ(get_int_path(labelled, "metadata.generation"), 4);
  Object changed = thing(R"(,"spec":{"size":2})");
  strategy->prepare_for_update(context, changed, old);
  EXPECT_EQ(get_int_path(changed, "metadata.generation"), 5);
}

TEST(CustomStrategyTest, TheStatusSubresourceChangesNothingElse) {
  const auto strategy = make_custom_status_strategy(resource());
  RequestContext context;
  const Object old = thing(R"(,"spec":{"size":1})");
  Object object = thing(R"(,"spec":{"size":9},"status":{"replicas":2})");
  strategy->prepare_for_update(context, object, old);
  EXPECT_EQ(get_int_path(object, "spec.size"), 1);
  EXPECT_EQ(get_int_path(object, "status.replicas"), 2);
}

// Regression: an object that was stored before a change of the definition lost the new defaults when its status was written first, and when
// it was deleted.
TEST(CustomStrategyTest, WhatIsStoredAnewIsStoredAsTheDefinitionHasItNow) {
  const auto read = resource();
  RequestContext context;
  const Object old = thing(R"(,"gone":1,"spec":{"size":1})");
  Object object = thing(R"(,"spec":{"size":1,"color":"red"},"status":{"replicas":2})");
  make_custom_status_strategy(read)->prepare_for_update(context, object, old);
  EXPECT_EQ(to_json(Value(object)), to_json(Value(thing(R"(,"spec":{"color":"red","size":1},"status":{"replicas":2})"))));
  Object deleted = old;
  make_custom_strategy(read)->mark_deleting(deleted);
  EXPECT_EQ(to_json(Value(deleted)), to_json(Value(thing(R"(,"spec":{"color":"red","size":1})"))));
  Object alpha = thing(R"(,"a":"x")", "v1alpha1");
  make_custom_strategy(read)->mark_deleting(alpha);
  EXPECT_EQ(to_json(Value(alpha)), to_json(Value(thing(""))));
}

// Regression: a new label on an object that was stored before a change of the definition incremented its generation.
TEST(CustomStrategyTest, DefaultsThatHaveComeSinceAreNoChangeOfTheContent) {
  const auto strategy = make_custom_strategy(resource());
  RequestContext context;
  Object old = thing(R"(,"spec":{"size":1})");
  ObjectMeta(old).set_generation(4);
  Object labelled = thing(R"(,"spec":{"size":1,"color":"red"})");
  ObjectMeta(labelled).set_generation(4);
  strategy->prepare_for_update(context, labelled, old);
  EXPECT_EQ(get_int_path(labelled, "metadata.generation"), 4);
}

TEST(CustomStrategyTest, WarnsOfFinalizersWithoutADomain) {
  const auto strategy = make_custom_strategy(resource());
  Object object = thing("");
  ObjectMeta(object).set_finalizers({"nodomain", "a.b", "example.com/x", "orphan"});
  EXPECT_EQ(
      strategy->warnings(object, nullptr),
      (std::vector<std::string>{
          R"(metadata.finalizers: "a.b": prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers)",
          R"(metadata.finalizers: "nodomain": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers)"}));
  EXPECT_TRUE(strategy->warnings(object, &object).empty());
}

using Converted = Result<std::vector<Object>>;
Task<void> keep(Task<Converted> converting, Converted& out) { out = co_await std::move(converting); }

Object converted(const CustomConverter& converter, const std::string& from, const std::string& to, Object object) {
  std::vector<Object> objects;
  objects.push_back(std::move(object));
  Converted done;
  test::TurnExecutor turns;
  auto converting = converter.convert({"mv.example.com", from, "Thing"}, {"mv.example.com", to, "Thing"}, std::move(objects));
  spawn_detached(turns, keep(std::move(converting), done));
  turns.run_until_idle();
  EXPECT_TRUE(done.ok() && done->size() == 1) << done.status().message();
  return done.ok() && done->size() == 1 ? std::move(done->front()) : Object();
}

// Regression: the defaults of the requested version were set.
TEST(CustomConverterTest, ReadersSeeTheDefaultsOfTheStoredVersionAndTheStoreDoesNot) {
  const auto read = resource();
  const CustomConverter stored(read, read->stored(), nullptr);
  EXPECT_EQ(to_json(Value(converted(stored, "v1", "v1", thing(R"(,"old":1,"spec":{"size":1})")))),
            R"({"apiVersion":"mv.example.com/v1","kind":"Thing","metadata":{"name":"t"},"spec":{"color":"red","size":1}})");
  EXPECT_EQ(stored.refresh_until(), std::numeric_limits<Revision>::max()) << "what comes through v1alpha1 has no colour";
  const CustomConverter alpha(read, *read->find("v1alpha1"), nullptr);
  EXPECT_EQ(to_json(Value(converted(alpha, "v1", "v1alpha1", thing(R"(,"spec":{"size":1})")))),
            R"({"apiVersion":"mv.example.com/v1alpha1","kind":"Thing","metadata":{"name":"t"},"spec":{"color":"red","size":1}})");
  EXPECT_EQ(to_json(Value(converted(alpha, "v1alpha1", "v1", thing(R"(,"spec":{"size":1})", "v1alpha1")))),
            R"({"apiVersion":"mv.example.com/v1","kind":"Thing","metadata":{"name":"t"},"spec":{"size":1}})");
}

// Regression: the status was missing until it was written for the first time.
TEST(CustomResourceTest, ADefaultOfTheStatusIsSeenInWhatIsCreated) {
  const Object crd = json::parse(R"({"spec":{"group":"mv.example.com","scope":"Namespaced","names":{"plural":"things","kind":"Thing"},
    "versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},"schema":{"openAPIV3Schema":{"type":"object","properties":{
      "status":{"type":"object","default":{"phase":"Pending"},"properties":{"phase":{"type":"string"}}}}}}}]},
    "status":{"acceptedNames":{"plural":"things","singular":"thing","kind":"Thing","listKind":"ThingList"}}})")
                         .as_object();
  const auto read = *read_resource(crd, std::make_shared<SchemaSource>(make_object(crd)), std::make_shared<Writes>());
  EXPECT_EQ(read->refresh_until(), std::numeric_limits<Revision>::max());
  Object stored = thing("");
  EXPECT_FALSE(read->is_current(stored));
  read->complete(stored);
  EXPECT_EQ(to_json(Value(stored["status"])), R"({"phase":"Pending"})");
}

TEST(CustomResourceTest, OlderVersionsAreUpdatedInPlaceOnlyWithoutAConversionWebhook) {
  auto by_webhook = std::make_shared<CustomResource>(*resource());
  Object older = thing(R"(,"a":"x")", "v1alpha1");
  EXPECT_TRUE(by_webhook->can_be_brought(older));
  by_webhook->by_webhook = true;
  EXPECT_FALSE(by_webhook->can_be_brought(older));
  by_webhook->convert_to_stored_version(older);
  EXPECT_TRUE(older == thing(R"(,"a":"x")", "v1alpha1"));

  // The status is set in the object that the version's strategy has returned.
  RequestContext context;
  Object updated = thing(R"(,"spec":{"size":1},"status":{"replicas":2})");
  make_custom_status_strategy(by_webhook)->prepare_for_update(context, updated, older);
  EXPECT_EQ(to_json(updated), to_json(thing(R"(,"spec":{"size":1},"status":{"replicas":2})")));
  Object sent = thing(R"(,"spec":{"size":9},"status":{"replicas":3})");
  make_version_status_strategy(by_webhook, by_webhook->stored())->prepare_for_update(context, sent, updated);
  EXPECT_EQ(to_json(sent["spec"]), R"({"size":1})");
  EXPECT_EQ(to_json(sent["status"]), R"({"replicas":3})");
}

TEST(CustomResourceTest, ARequestThatIsOverEndsTheRunsOfItsRules) {
  const Object crd = json::parse(R"x({"spec":{"group":"mv.example.com","scope":"Namespaced","names":{"plural":"things","kind":"Thing"},
    "versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{
      "l":{"type":"array","items":{"type":"integer"},"x-kubernetes-validations":[{"rule":"self.all(x, x == 1)"}]}}}}}]},
    "status":{"acceptedNames":{"plural":"things","singular":"thing","kind":"Thing","listKind":"ThingList"}}})x")
                         .as_object();
  const auto read = *read_resource(crd, std::make_shared<SchemaSource>(make_object(crd)), std::make_shared<Writes>());
  std::string list = "1";
  for (int i = 0; i < 150; ++i) list += ",1";
  const Object many = thing(R"(,"l":[)" + list + "]");
  const auto strategy = make_version_strategy(read, read->stored());
  RequestContext context;
  const auto found = [&] {
    FieldErrors errors;
    strategy->validate(context, many, errors);
    return errors.empty() ? "" : errors.aggregate_message();
  };
  EXPECT_EQ(found(), "");
  context.deadline = std::chrono::steady_clock::now() + std::chrono::hours(1);
  EXPECT_EQ(found(), "");
  context.deadline = std::chrono::steady_clock::now() - std::chrono::milliseconds(1);
  const std::string interrupted = "l: Invalid value: \"array\": operation interrupted evaluating rule: self.all(x, x == 1)";
  EXPECT_EQ(found(), interrupted);
  context.deadline = std::chrono::steady_clock::now() + std::chrono::hours(1);
  RecordingExchange exchange;
  context.exchange = &exchange;
  context.received = std::chrono::steady_clock::now() - std::chrono::hours(1);
  EXPECT_EQ(found(), "");
  EXPECT_EQ(exchange.closed_calls, 1);
  exchange.gone = true;
  EXPECT_EQ(found(), interrupted) << "the connection was not looked at";
  context.received = std::chrono::steady_clock::now() + std::chrono::hours(1);
  EXPECT_EQ(found(), "") << "short runs do not look at it";
  EXPECT_EQ(exchange.closed_calls, 2);
}

TEST(CustomConverterTest, KnowsTheFieldLabelsOfItsOwnVersion) {
  const auto read = resource();
  const CustomConverter stored(read, read->stored(), nullptr);
  const CustomConverter alpha(read, *read->find("v1alpha1"), nullptr);
  EXPECT_EQ(*stored.stored_field_label(read->stored().kind, "spec.color"), "spec.color");
  EXPECT_EQ(alpha.stored_field_label({}, "spec.color").status().message(), "field label not supported: spec.color");
}

TEST(CustomSchemaTest, NamesTypesAsOpenApiDoes) { EXPECT_EQ(definition_name({"cr.example.com", "v1", "Foo"}), "com.example.cr.v1.Foo"); }

}  // namespace
}  // namespace backplane::apiextensions
