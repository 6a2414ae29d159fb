#include "controller.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "definition.hpp"
#include "definition_strategy.hpp"
#include "fake_host.hpp"

namespace backplane::test {
namespace {

using namespace apiextensions;

class ControllerTest : public ::testing::Test {
 protected:
  ControllerTest() {
    ResourceConfig config;
    config.kind = {"apiextensions.k8s.io", "v1", "CustomResourceDefinition"};
    config.resource = "customresourcedefinitions";
    config.strategy = make_definition_strategy();
    definitions = std::make_shared<FakeStore>(std::move(config));
  }
  ~ControllerTest() override {
    if (controller) controller->stop();
    host.turns.run_until_idle(true);
    EXPECT_EQ(host.running, 0);
  }

  void start(std::chrono::nanoseconds establishing_delay = {}) {
    Controller::Parts parts;
    parts.establishing_delay = establishing_delay;
    parts.host = &host;
    parts.definitions = definitions;
    parts.status = std::make_shared<FakeSubresource>(definitions);
    parts.groups = host.groups;
    parts.synced = host.synced;
    controller = std::make_shared<Controller>(std::move(parts));
    controller->start_informer();
    controller->start();
    host.turns.run_until_idle();
  }
  void define(const std::string& plural, const std::string& kind, const std::string& version = "v1") {
    const std::string lower = plural.substr(0, plural.size() - 1);
    Object crd =
        json::parse(R"({"metadata":{"name":")" + plural + R"(.cr.example.com","uid":"u-)" + plural +
                    R"(","generation":1},"spec":{"group":"cr.example.com",
      "scope":"Namespaced","names":{"plural":")" +
                    plural + R"(","singular":")" + lower + R"(","kind":")" + kind + R"(","listKind":")" + kind +
                    R"(List"},"versions":[{"name":")" + version +
                    R"(","served":true,"storage":true,"subresources":{"status":{}},"schema":{"openAPIV3Schema":{"type":"object"}}}]},
      "status":{"storedVersions":["v1"]}})")
            .as_object();
    definitions->put(std::move(crd), WatchEvent::Type::kAdded);
    host.turns.run_until_idle();
  }
  Object definition(const std::string& plural) { return decode(*definitions->data.at(plural + ".cr.example.com"), {}); }
  void mark_deleted(const std::string& plural) {
    Object crd = definition(plural);
    make_definition_strategy()->mark_deleting(crd);
    ObjectMeta(crd).set("deletionTimestamp", "2026-01-01T00:00:00Z");
    definitions->put(std::move(crd), WatchEvent::Type::kModified);
    host.turns.run_until_idle();
  }
  std::vector<std::string> served() {
    std::vector<std::string> paths;
    for (const auto& [name, resource] : host.groups->published) {
      for (const auto& version : resource.versions) {
        for (const auto& [path, storage] : version.storages) paths.push_back(resource.group + "/" + version.version + "/" + path);
      }
    }
    return paths;
  }

  std::shared_ptr<RestStorage> path_of(const std::string& path) {
    const std::string plural = path.substr(0, path.find('/'));
    return host.groups->published.at({"cr.example.com", plural}).versions.at(0).storages.at(path);
  }
  StandardStorage& storage_of(const std::string& plural) { return dynamic_cast<StandardStorage&>(*path_of(plural)); }
  // The spec of a definition after a change.
  void change(const std::string& plural) {
    Object changed = definition(plural);
    Object& version = changed.at("spec").as_object().at("versions").as_array().at(0).as_object();
    version["deprecated"] = !get_bool(version, "deprecated").value_or(false);
    ObjectMeta(changed).set_generation(ObjectMeta(changed).generation() + 1);
    definitions->put(changed, WatchEvent::Type::kModified);
    host.turns.run_until_idle();
  }

  static Task<void> list(std::shared_ptr<RestStorage> storage) {
    RequestContext context;
    ListOptions options;
    auto& lister = dynamic_cast<Lister&>(*storage);
    const auto listed = co_await lister.list(context, std::move(options));
    EXPECT_TRUE(listed.ok()) << listed.status().message();
  }
  // A request for objects of the resource creates its storages.
  void use(const std::string& plural) {
    host.spawn("list", list(path_of(plural)));
    host.turns.run_until_idle();
  }

  // A create that is in progress until `over`.
  struct Creation {
    RequestContext context;
    Object object = json::parse(R"({"metadata":{"name":"a"}})").as_object();
    bool over = false;
    Result<ObjectRef> result;
  };
  static Task<void> create(std::shared_ptr<RestStorage> storage, std::shared_ptr<Creation> creation) {
    WriteOptions options;
    auto& creater = dynamic_cast<Creater&>(*storage);
    creation->result = co_await creater.create(creation->context, creation->object, std::move(options));
    creation->over = true;
  }
  std::shared_ptr<Creation> create_in(std::shared_ptr<RestStorage> storage) {
    auto creation = std::make_shared<Creation>();
    host.spawn("create", create(std::move(storage), creation));
    host.turns.run_until_idle();
    return creation;
  }
  class Touch final : public UpdatedObjectInfo {
   public:
    Task<Result<Object>> updated_object(RequestContext& context, const Object* existing) override {
      co_return Object(*existing, context.arena());
    }
  };
  static Task<void> touch(std::shared_ptr<RestStorage> storage, std::string name, Revision& at) {
    RequestContext context;
    Touch info;
    WriteOptions options;
    auto& updater = dynamic_cast<Updater&>(*storage);
    auto updated = co_await updater.update(context, std::move(name), info, std::move(options), false);
    if (updated.ok()) at = updated->object->revision;
  }
  // Objects up to this revision are read through the schema again.
  Revision refreshed_until() { return host.views.back()->config.converter->refresh_until(); }
  // Waits for one batch of events of the stream.
  struct Batch {
    bool come = false;
    Result<std::vector<WatchEvent>> events = std::vector<WatchEvent>();
  };
  static Task<void> read(std::shared_ptr<WatchStream> stream, std::shared_ptr<Batch> out) {
    out->events = co_await stream->next();
    out->come = true;
  }
  static Task<void> open(StandardStorage& storage, std::shared_ptr<WatchStream>& out) {
    RequestContext context;
    ListOptions options;
    auto opened = co_await storage.watch(context, std::move(options));
    if (opened.ok()) out = std::move(*opened);
  }
  std::shared_ptr<Batch> watch(const std::string& plural) {
    std::shared_ptr<WatchStream> stream;
    host.spawn("open", open(storage_of(plural), stream));
    host.turns.run_until_idle();
    auto batch = std::make_shared<Batch>();
    if (stream) host.spawn("read", read(stream, batch));
    host.turns.run_until_idle();
    return batch;
  }

  FakeHost host;
  std::shared_ptr<FakeStore> definitions;
  std::shared_ptr<Controller> controller;
};

TEST_F(ControllerTest, ServesAcceptedDefinitionsAndSetsTheCondition) {
  start();
  define("foos", "Foo");
  EXPECT_EQ(served(), (std::vector<std::string>{"cr.example.com/v1/foos", "cr.example.com/v1/foos/status"}));
  const Object crd = definition("foos");
  EXPECT_EQ(get_string(*find_condition(crd, "NamesAccepted"), "reason"), "NoConflicts");
  EXPECT_EQ(get_string(*find_condition(crd, "Established"), "reason"), "InitialNamesAccepted");
  EXPECT_TRUE(condition_is_true(crd, "Established"));
  EXPECT_EQ(get_string_path(crd, "status.acceptedNames.listKind"), "FooList");
  EXPECT_TRUE(host.log.errors.empty());
}

TEST_F(ControllerTest, WhereThereAreSeveralServersADefinitionIsServedBeforeItIsSaidToBeEstablished) {
  start(std::chrono::milliseconds(20));
  define("foos", "Foo");
  EXPECT_EQ(served().size(), 2u);
  EXPECT_TRUE(condition_is_true(definition("foos"), "NamesAccepted"));
  EXPECT_TRUE(has_condition(definition("foos"), installing_condition()));
  host.turns.run_until_idle(true);
  EXPECT_TRUE(condition_is_true(definition("foos"), "Established"));
}

// Regression: a client that read the definition meanwhile found no condition Established.
TEST_F(ControllerTest, EstablishedHasTheReasonInstallingAfterNamesAreAccepted) {
  start();
  Object between;
  definitions->before_update = [&] { definitions->before_update = [&] { between = definition("foos"); }; };
  define("foos", "Foo");
  EXPECT_TRUE(condition_is_true(between, "NamesAccepted"));
  EXPECT_TRUE(has_condition(between, {"Established", "False", "Installing", "the initial names have been accepted"}));
  EXPECT_TRUE(condition_is_true(definition("foos"), "Established"));
}

TEST_F(ControllerTest, ADefinitionIsEstablishedWhenItsInvalidCaBundleIsCorrected) {
  const auto set_authorities = [this](const char* bundle) {
    Object crd = definition("foos");
    crd.at("spec").as_object()["conversion"] =
        json::parse(R"({"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"url":"https://a","caBundle":")" +
                    std::string(bundle) + "\"}}}");
    ObjectMeta(crd).set_generation(ObjectMeta(crd).generation() + 1);
    definitions->put(std::move(crd), WatchEvent::Type::kModified);
    host.turns.run_until_idle();
  };
  define("foos", "Foo");
  set_authorities("bm8gUEVN");
  start();
  EXPECT_TRUE(has_condition(definition("foos"), {"Established", "False", "InvalidCABundle", "The conversion webhook CABundle is invalid"}));
  EXPECT_TRUE(served().empty());
  set_authorities("");
  EXPECT_TRUE(condition_is_true(definition("foos"), "Established"));
  EXPECT_EQ(served().size(), 2u);
}

TEST_F(ControllerTest, ADefinitionThatKeepsUnknownFieldsIsSaidToBeNonStructuralOnceForEachGeneration) {
  start();
  define("widgets", "Widget");
  EXPECT_EQ(find_condition(definition("widgets"), "NonStructuralSchema"), nullptr);
  const auto put = [&](bool keeps, std::string_view schema, int generation) {
    Object crd = definition("widgets");
    Object& spec = crd.at("spec").as_object();
    spec["preserveUnknownFields"] = keeps;
    spec.at("versions").as_array().at(0).as_object()["schema"] = json::parse(R"({"openAPIV3Schema":)" + std::string(schema) + "}");
    ObjectMeta(crd).set_generation(generation);
    definitions->put(crd, WatchEvent::Type::kModified);
    host.turns.run_until_idle();
  };
  put(true, R"({"properties":{"b":{},"a":{}}})", 2);
  const Condition expected{
      "NonStructuralSchema", "True", "Violations",
      "[spec.preserveUnknownFields: Invalid value: true: must be false, "
      "spec.versions[0].schema.openAPIV3Schema.properties[a].type: Required value: must not be empty for specified object fields, "
      "spec.versions[0].schema.openAPIV3Schema.properties[b].type: Required value: must not be empty for specified object fields, "
      "spec.versions[0].schema.openAPIV3Schema.type: Required value: must not be empty at the root]"};
  EXPECT_TRUE(has_condition(definition("widgets"), expected)) << to_json(definition("widgets"));
  // Another server writes another result for the same generation: it is not overwritten.
  Object other = definition("widgets");
  set_condition(other, {"NonStructuralSchema", "True", "Violations", "other words"});
  definitions->put(other, WatchEvent::Type::kModified);
  host.turns.run_until_idle();
  EXPECT_EQ(get_string(*find_condition(definition("widgets"), "NonStructuralSchema"), "message"), "other words");
  put(false, R"({"type":"object"})", 3);
  EXPECT_EQ(find_condition(definition("widgets"), "NonStructuralSchema"), nullptr);
}

TEST_F(ControllerTest, ADefinitionThatAnotherServerHasEstablishedIsNotWrittenAgain) {
  start();
  definitions->before_update = [this] {
    Object changed = definition("foos");
    set_condition(changed, {"Established", "True", "InitialNamesAccepted", "the initial names have been accepted"});
    definitions->put(changed, WatchEvent::Type::kModified);
    definitions->before_update = [this] { ADD_FAILURE() << "it had to be established again"; };
  };
  define("foos", "Foo");
  EXPECT_TRUE(condition_is_true(definition("foos"), "NamesAccepted"));
  EXPECT_TRUE(condition_is_true(definition("foos"), "Established"));
}

TEST_F(ControllerTest, SyncedFiresWhenExistingDefinitionsAreServed) {
  define("foos", "Foo");
  define("bars", "Bar");
  EXPECT_FALSE(host.synced->fired());
  start();
  EXPECT_TRUE(host.synced->fired());
  EXPECT_EQ(served().size(), 4u);
}

TEST_F(ControllerTest, AtStartupNoNameIsGivenTwice) {
  start();
  define("foos", "Foo");
  controller->stop();
  host.turns.run_until_idle(true);
  define("claimants", "Foo");  // before "foos" in the order of names
  start();
  EXPECT_EQ(get_string(*find_condition(definition("claimants"), "NamesAccepted"), "reason"), "ListKindConflict");
  EXPECT_EQ(served(), (std::vector<std::string>{"cr.example.com/v1/foos", "cr.example.com/v1/foos/status"}));
}

TEST_F(ControllerTest, AStatusThatCouldNotBeWrittenIsWrittenLater) {
  start();
  definitions->refuse_updates = 3;
  define("foos", "Foo");
  EXPECT_EQ(find_condition(definition("foos"), "Established"), nullptr);
  host.turns.run_until_idle(true);
  EXPECT_TRUE(condition_is_true(definition("foos"), "Established"));
}

TEST_F(ControllerTest, AnExceptionOfTheStoreEndsNothing) {
  start();
  definitions->throw_on_update = 1;
  define("foos", "Foo");
  define("bars", "Bar");
  EXPECT_TRUE(condition_is_true(definition("bars"), "Established"));
  host.turns.run_until_idle(true);
  EXPECT_TRUE(condition_is_true(definition("foos"), "Established"));
}

TEST_F(ControllerTest, NamesThatChangeWhileAStatusIsWrittenAreAccepted) {
  start();
  definitions->before_update = [this] {
    Object changed = definition("foos");
    changed.at("spec").as_object().at("names").as_object()["shortNames"] = Array{"fo"};
    ObjectMeta(changed).set_generation(2);
    definitions->put(changed, WatchEvent::Type::kModified);
  };
  define("foos", "Foo");
  EXPECT_EQ(find_path(definition("foos"), "status.acceptedNames.shortNames")->as_array().at(0).as_string(), "fo");
}

TEST_F(ControllerTest, ATakenKindIsNotServedUntilItIsFree) {
  start();
  define("foos", "Foo");
  define("others", "Foo");
  Object second = definition("others");
  EXPECT_EQ(get_string(*find_condition(second, "NamesAccepted"), "reason"), "ListKindConflict");
  EXPECT_EQ(get_string(*find_condition(second, "NamesAccepted"), "message"), R"("FooList" is already in use)");
  EXPECT_EQ(get_string(*find_condition(second, "Established"), "reason"), "NotAccepted");
  EXPECT_EQ(served().size(), 2u);
  mark_deleted("foos");
  second = definition("others");
  EXPECT_TRUE(condition_is_true(second, "Established"));
  EXPECT_EQ(served(), (std::vector<std::string>{"cr.example.com/v1/others", "cr.example.com/v1/others/status"}));
}

TEST_F(ControllerTest, AChangeOfTheSpecMakesNewStoragesAndOtherChangesKeepThem) {
  start();
  define("foos", "Foo");
  EXPECT_EQ(host.stores.size(), 0u) << "no object has been requested";
  use("foos");
  use("foos");
  ASSERT_EQ(host.stores.size(), 1u);
  Object labelled = definition("foos");
  ObjectMeta(labelled).mutable_labels()["x"] = "y";
  definitions->put(labelled, WatchEvent::Type::kModified);
  host.turns.run_until_idle();
  EXPECT_EQ(host.stores.size(), 1u);
  Object changed = definition("foos");
  changed.at("spec").as_object().at("versions").as_array().at(0).as_object().erase("subresources");
  definitions->put(changed, WatchEvent::Type::kModified);
  host.turns.run_until_idle();
  use("foos");
  EXPECT_EQ(host.stores.size(), 2u);
  EXPECT_EQ(served(), (std::vector<std::string>{"cr.example.com/v1/foos"}));
}

// Two definitions of one resource would make stores over the same keys.
TEST_F(ControllerTest, UnusedStoragesAreNotCreatedAfterTheDefinitionHasChanged) {
  start();
  define("foos", "Foo");
  const auto before = path_of("foos");
  change("foos");
  const auto refused = create_in(before);
  ASSERT_TRUE(refused->over && !refused->result.ok());
  EXPECT_EQ(refused->result.status().code(), 503);
  EXPECT_EQ(host.stores.size(), 0u);
  EXPECT_TRUE(create_in(path_of("foos"))->result.ok());
  EXPECT_EQ(host.stores.size(), 1u);
}

TEST_F(ControllerTest, AWatchEndsWithTheSchemaItBeganWith) {
  start();
  define("foos", "Foo");
  const auto watching = watch("foos");
  Object labelled = definition("foos");
  ObjectMeta(labelled).mutable_labels()["x"] = "y";
  definitions->put(labelled, WatchEvent::Type::kModified);
  host.turns.run_until_idle();
  EXPECT_FALSE(watching->come) << "a label of the definition does not concern watches of its objects";
  Object changed = definition("foos");
  changed.at("spec").as_object().at("versions").as_array().at(0).as_object().erase("subresources");
  definitions->put(changed, WatchEvent::Type::kModified);
  host.turns.run_until_idle();
  ASSERT_TRUE(watching->come);
  EXPECT_TRUE(watching->events.ok() && watching->events->empty());
}

TEST_F(ControllerTest, AWatchDoesNotShowTheObjectsOfASuccessorOfItsType) {
  start();
  define("foos", "Foo");
  const auto watching = watch("foos");
  mark_deleted("foos");
  ASSERT_TRUE(watching->come) << "it is open after its type has gone";
  EXPECT_TRUE(watching->events.ok() && watching->events->empty());
}

TEST_F(ControllerTest, AChangeOfOneDefinitionPublishesThatOneAlone) {
  for (int i = 0; i < 20; ++i) define("foos" + std::string(1, static_cast<char>('a' + i)) + "s", "Foo" + std::to_string(i));
  start();
  EXPECT_EQ(host.groups->times, 1) << "what was there at the start is published in one change";
  EXPECT_EQ(host.groups->puts, 20);
  define("bars", "Bar");
  EXPECT_EQ(host.groups->puts, 21);
}

TEST_F(ControllerTest, ADefinitionThatCannotBePublishedBlocksNoOther) {
  host.groups->refused_group = "taken.example.com";
  define("foos", "Foo");
  Object other = definition("foos");
  other.at("spec").as_object()["group"] = "taken.example.com";
  ObjectMeta(other).set("name", "foos.taken.example.com");
  ObjectMeta(other).set("uid", "u-other");
  definitions->put(other, WatchEvent::Type::kAdded);
  start();
  EXPECT_EQ(served().size(), 2u);
  ASSERT_EQ(host.log.errors.size(), 1u);
  EXPECT_NE(host.log.errors[0].find("foos.taken.example.com"), std::string::npos) << host.log.errors[0];
}

// Regression: a failure was not retried before the next change of the definition.
TEST_F(ControllerTest, OneThatCouldNotBePublishedIsTriedAgainWhenAllAreJudgedAnew) {
  host.groups->refused_group = "cr.example.com";
  define("foos", "Foo");
  start();
  EXPECT_TRUE(served().empty());
  host.groups->refused_group.clear();
  controller->start_resync();
  host.turns.run_until_idle();
  EXPECT_TRUE(served().empty());
  host.turns.fire_timers();
  EXPECT_EQ(served().size(), 2u);
  EXPECT_THAT(host.turns.delays, testing::Contains(std::chrono::minutes(5)));
  controller->stop();
}

TEST_F(ControllerTest, DeletionTakesTheObjectsAndThenTheDefinition) {
  start();
  define("foos", "Foo");
  use("foos");
  FakeStore& objects = *host.stores.back();
  objects.put(json::parse(R"({"metadata":{"name":"a"}})").as_object(), WatchEvent::Type::kAdded);
  objects.put(json::parse(R"({"metadata":{"name":"held","finalizers":["example.com/x"]}})").as_object(), WatchEvent::Type::kAdded);
  mark_deleted("foos");
  EXPECT_EQ(objects.data.count("a"), 0u);
  EXPECT_EQ(get_string(*find_condition(definition("foos"), "Terminating"), "reason"), "InstanceDeletionInProgress");
  EXPECT_EQ(served().size(), 2u);
  objects.erase("held");
  host.turns.run_until_idle();
  EXPECT_EQ(definitions->data.count("foos.cr.example.com"), 0u);
  EXPECT_TRUE(served().empty());
}

// Regression: the objects stayed, and a new definition with the same name served them.
TEST_F(ControllerTest, DeletionBeforeTheConditionIsStoredTakesTheObjectsToo) {
  start();
  define("foos", "Foo");
  use("foos");
  FakeStore& objects = *host.stores.back();
  objects.put(json::parse(R"({"metadata":{"name":"a"}})").as_object(), WatchEvent::Type::kAdded);
  Object crd = definition("foos");
  Object& status = crd.at("status").as_object();
  status["conditions"] = Array{Object{{"type", "NamesAccepted"}, {"status", "True"}, {"reason", "NoConflicts"}, {"message", ""}},
                               Object{{"type", "Established"}, {"status", "False"}, {"reason", "Installing"}, {"message", ""}}};
  make_definition_strategy()->mark_deleting(crd);
  ObjectMeta(crd).set("deletionTimestamp", "2026-01-01T00:00:00Z");
  definitions->put(std::move(crd), WatchEvent::Type::kModified);
  host.turns.run_until_idle();
  EXPECT_TRUE(objects.data.empty());
  EXPECT_EQ(definitions->data.count("foos.cr.example.com"), 0u);
  EXPECT_TRUE(served().empty());
}

TEST_F(ControllerTest, NothingNewIsCreatedWhileTheDefinitionIsDeleted) {
  start();
  define("foos", "Foo");
  use("foos");
  FakeStore& objects = *host.stores.back();
  objects.put(json::parse(R"({"metadata":{"name":"held","finalizers":["example.com/x"]}})").as_object(), WatchEvent::Type::kAdded);
  const auto storage = path_of("foos");
  mark_deleted("foos");
  const auto refused = create_in(storage);
  ASSERT_TRUE(refused->over && !refused->result.ok());
  EXPECT_EQ(refused->result.status().code(), 403);
  EXPECT_EQ(refused->result.status().message(),
            "foos.cr.example.com \"a\" is forbidden: create not allowed while custom resource definition is terminating");
}

// Regression: an object was stored after all objects had been removed, and outlived its definition.
TEST_F(ControllerTest, ACreateUnderWayWhenTheDefinitionGoesIsWaitedFor) {
  start();
  define("foos", "Foo");
  use("foos");
  FakeStore& objects = *host.stores.back();
  Promise<bool> go_on;
  host.views.back()->held_create = go_on;
  const auto creation = create_in(path_of("foos"));
  mark_deleted("foos");
  ASSERT_EQ(definitions->data.count("foos.cr.example.com"), 1u) << "it has gone before an object that is still to come";
  objects.put(json::parse(R"({"metadata":{"name":"a"}})").as_object(), WatchEvent::Type::kAdded);
  go_on.set(true);
  host.turns.run_until_idle();
  EXPECT_TRUE(creation->over && creation->result.ok());
  EXPECT_TRUE(objects.data.empty());
  EXPECT_EQ(definitions->data.count("foos.cr.example.com"), 0u);
}

// Regression: a request that had found the former storages could still create objects.
TEST_F(ControllerTest, ReplacedStoragesRefuseCreatesOfADeletedDefinition) {
  start();
  define("foos", "Foo");
  const auto before = path_of("foos");
  change("foos");
  ASSERT_NE(path_of("foos"), before);
  mark_deleted("foos");
  const auto refused = create_in(before);
  ASSERT_TRUE(refused->over && !refused->result.ok());
  EXPECT_EQ(refused->result.status().code(), 403);
}

TEST_F(ControllerTest, ASuccessorOfADeletedDefinitionTakesCreates) {
  start();
  define("foos", "Foo");
  mark_deleted("foos");
  define("foos", "Foo");
  const auto created = create_in(path_of("foos"));
  EXPECT_TRUE(created->over && created->result.ok());
}

// Regression: objects that were stored by the old schema after the new one had been committed, but before it was installed, counted as
// objects of the new schema.
TEST_F(ControllerTest, WhatIsStoredBetweenAChangeAndItsInstallationIsReadAnew) {
  start();
  define("foos", "Foo");
  use("foos");
  EXPECT_EQ(refreshed_until(), 0) << "the definition has never changed";
  host.views.back()->revision = 100;
  const auto created = create_in(path_of("foos"));
  ASSERT_TRUE(created->result.ok());
  change("foos");
  use("foos");
  EXPECT_EQ(refreshed_until(), (*created->result)->revision);
}

// The same for writes that end, or even begin, after the installation.
TEST_F(ControllerTest, WhatIsStoredThroughTheStoragesOfBeforeIsReadAnew) {
  constexpr Revision kUnknown = std::numeric_limits<Revision>::max();
  start();
  define("foos", "Foo");
  use("foos");
  const auto before = host.views.back();
  const auto main = path_of("foos"), status = path_of("foos/status");
  before->revision = 100;
  Promise<bool> go_on;
  before->held_create = go_on;
  const auto creation = create_in(main);
  change("foos");
  use("foos");
  EXPECT_EQ(refreshed_until(), kUnknown) << "the storage version is not known yet";
  go_on.set(true);
  host.turns.run_until_idle();
  ASSERT_TRUE(creation->result.ok());
  EXPECT_EQ(refreshed_until(), (*creation->result)->revision);
  Revision touched = 0;
  host.spawn("touch", touch(status, "a", touched));
  host.turns.run_until_idle();
  EXPECT_GT(touched, 100);
  EXPECT_EQ(refreshed_until(), touched);
  const auto now = host.views.back();
  now->revision = 1000;
  ASSERT_TRUE(create_in(path_of("foos"))->result.ok());
  EXPECT_EQ(refreshed_until(), touched) << "what is stored by the new schema needs nothing";
}

// Regression: after a restart they counted as objects of the new schema again.
TEST_F(ControllerTest, AfterARestartAllThatIsThereIsReadThroughAChangedDefinition) {
  define("foos", "Foo");
  define("bars", "Bar");
  Object changed = definition("foos");
  ObjectMeta(changed).set_generation(2);
  definitions->put(changed, WatchEvent::Type::kModified);
  definitions->revision = 500;
  start();
  use("foos");
  use("bars");
  const auto until = [&](const std::string& plural) {
    for (const auto& view : host.views) {
      if (view->config.resource == plural) return view->config.converter->refresh_until();
    }
    return Revision(-1);
  };
  EXPECT_EQ(until("foos"), 500);
  EXPECT_EQ(until("bars"), 0);
}

}  // namespace
}  // namespace backplane::test
