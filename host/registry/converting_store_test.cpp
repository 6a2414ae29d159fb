// Two versions of one kind over one storage. The stored version v1 has data.colour; v2, in another group, has data.hue with a "#" before
// the value.
#include "registry/conversion.hpp"
#include "registry/sent_values.hpp"
#include "registry/store_fixture.hpp"

namespace backplane::registry_test {
namespace {

const GroupVersionKind kStored{"example.com", "v1", "Thing"};
const GroupVersionKind kServed{"paint.example.com", "v2", "Thing"};

Status rename(Object& object, const char* from, const char* to, bool hash) {
  Object* data = find(object, "data") != nullptr ? &find(object, "data")->as_object() : nullptr;
  const Value* value = data != nullptr ? find(*data, from) : nullptr;
  if (value == nullptr) return {};
  const std::string text(value->get_string());
  data->erase(from);
  (*data)[to] = hash ? "#" + text : text.substr(std::min<std::size_t>(1, text.size()));
  return {};
}

std::shared_ptr<const Scheme> scheme() {
  auto scheme = std::make_shared<Scheme>();
  EXPECT_TRUE(scheme->add_conversion(kStored, kServed, [](Object& object) { return rename(object, "colour", "hue", true); }).ok());
  EXPECT_TRUE(scheme->add_conversion(kServed, kStored, [](Object& object) { return rename(object, "hue", "colour", false); }).ok());
  EXPECT_TRUE(scheme->add_field_labels(kServed, {{"data.hue", "data.colour"}}).ok());
  return scheme;
}

// Counts the calls, and converts with the functions of the Scheme.
class CountingConverter final : public ObjectConverter {
 public:
  Task<Result<std::vector<Object>>> convert(GroupVersionKind from, GroupVersionKind to, std::vector<Object> objects) const override {
    batches.push_back(objects.size());
    if (short_by > 0) objects.resize(objects.size() - short_by);
    for (Object& object : objects) {
      Status converted = scheme_->convert(from, to, object);
      if (!converted.ok()) co_return converted;
    }
    co_return objects;
  }
  Result<std::string> stored_field_label(const GroupVersionKind&, std::string_view label) const override { return std::string(label); }
  mutable std::vector<std::size_t> batches;
  std::size_t short_by = 0;

 private:
  std::shared_ptr<const Scheme> scheme_ = scheme();
};

// Rules and defaults of v2.
struct HueStrategy : Strategy {
  void apply_defaults(Object& object) const override {
    if (get_string_path(object, "data.hue").empty()) ensure_object(object, "data")["hue"] = "#grey";
  }
  void validate(RequestContext&, const Object& object, FieldErrors& errors) const override {
    if (get_string_path(object, "data.hue") == "#none") errors.invalid("data.hue", "#none", "must be a hue");
  }
  void validate_update(RequestContext& context, const Object& object, const Object&, FieldErrors& errors) const override {
    validate(context, object, errors);
  }
};

class ConvertingStoreTest : public StoreTest {
 protected:
  void make_versions(std::shared_ptr<const Strategy> own = nullptr, std::shared_ptr<const ObjectConverter> converter = nullptr,
                     std::shared_ptr<TestStrategy> strategy = nullptr) {
    if (strategy == nullptr) {
      strategy = std::make_shared<TestStrategy>(
          KindFacts{.generation = true, .status = true, .returns_deleted = true, .selectable = {{"data.colour", "data.colour", ""}}});
    }
    environment.use_scheme(scheme());
    make(strategy);
    stored = store;
    auto made = make_store(environment, view_config(std::move(own), std::move(converter)));
    ASSERT_TRUE(made.ok()) << made.status().message();
    served = std::move(*made);
    store = served;
  }
  ResourceConfig view_config(std::shared_ptr<const Strategy> own = nullptr, std::shared_ptr<const ObjectConverter> converter = nullptr) {
    ResourceConfig config;
    config.kind = kServed;
    config.stored_kind = kStored;
    config.resource = "things";
    config.schema = &schema_;
    config.strategy = std::move(own);
    config.converter = std::move(converter);
    return config;
  }
  ~ConvertingStoreTest() override {
    stored.reset();
    served.reset();
  }

  // Records the objects that admission gets in `seen`.
  void watch_admission() {
    admission.mutate = [this](AdmissionAttributes& attributes) {
      seen.push_back(attributes.kind.group + "/" + attributes.kind.version + " " + attributes.resource.group + " " +
                     std::string(attributes.object ? get_string_path(*attributes.object, "data.hue") : "-") + " " +
                     std::string(attributes.old_object ? get_string_path(*attributes.old_object, "data.hue") : "-"));
    };
  }
  static Object parsed_text(const std::string& text) { return json::parse(text).as_object(); }
  std::string bytes_of(const std::string& name) { return std::string(storage.data.at(key(name)).value.view()); }
  static std::string painted(const std::string& name, const std::string& hue) {
    return R"({"kind":"Thing","apiVersion":"paint.example.com/v2","metadata":{"name":")" + name + R"("},"data":{"hue":")" + hue + R"("}})";
  }
  std::vector<std::string> hues(Result<ListResult> listed) {
    std::vector<std::string> out;
    if (!listed.ok()) return {listed.status().message()};
    for (;;) {
      const auto batch = run(listed->items->next());
      if (!batch.ok()) out.push_back(batch.status().message());
      if (!batch.ok() || batch->empty()) break;
      for (const ObjectEntry* entry : *batch) {
        const Object object = json::parse(entry->json().view()).as_object();
        out.push_back(std::string(get_string(object, "apiVersion")) + " " + std::string(get_string_path(object, "data.hue")));
      }
    }
    return out;
  }
  Result<ListResult> list(const std::string& fields = "") {
    context = request("list");
    ListOptions options;
    options.fields = std::move(*FieldSelector::parse(fields));
    return run(store->list(*context, std::move(options)));
  }

  OrderingSchema schema_;
  std::shared_ptr<StandardStorage> stored, served;
  std::vector<std::string> seen;
};

TEST_F(ConvertingStoreTest, ACreateIsStoredInTheStoredVersionAndAnsweredInItsOwn) {
  make_versions();
  watch_admission();
  const auto created = create(painted("a", "#red"));
  ASSERT_TRUE(created.ok()) << created.status().message();
  EXPECT_EQ(get_string_path(parsed(*created), "data.hue"), "#red");
  EXPECT_EQ((*created)->json().view().substr(0, 50), R"({"kind":"Thing","apiVersion":"paint.example.com/v2)");
  EXPECT_EQ((*created)->json().view().substr((*created)->item_offset(), 19), R"("metadata":{"name":)");
  EXPECT_NE(bytes_of("a").find(R"("apiVersion":"example.com/v1")"), std::string::npos) << bytes_of("a");
  EXPECT_NE(bytes_of("a").find(R"("data":{"colour":"red"})"), std::string::npos) << bytes_of("a");
  EXPECT_EQ(seen, std::vector<std::string>{"paint.example.com/v2 paint.example.com #red -"});
}

TEST_F(ConvertingStoreTest, AdmissionChangesTheServedForm) {
  make_versions();
  admission.mutate = [](AdmissionAttributes& attributes) { ensure_object(*attributes.object, "data")["hue"] = "#blue"; };
  ASSERT_TRUE(create(painted("a", "#red")).ok());
  EXPECT_NE(bytes_of("a").find(R"("data":{"colour":"blue"})"), std::string::npos) << bytes_of("a");
}

TEST_F(ConvertingStoreTest, ReadsShowTheirVersion) {
  make_versions();
  ASSERT_TRUE(create(painted("a", "#red")).ok());
  ASSERT_TRUE(create(painted("b", "#green")).ok());
  EXPECT_EQ(get_string_path(parsed(*get("a")), "data.hue"), "#red");
  EXPECT_EQ(hues(list()), (std::vector<std::string>{"paint.example.com/v2 #red", "paint.example.com/v2 #green"}));
  store = stored;
  EXPECT_EQ(get_string_path(parsed(*get("a")), "data.colour"), "red");
}

TEST_F(ConvertingStoreTest, AnUpdateSeesAndGivesItsVersion) {
  make_versions();
  ASSERT_TRUE(create(painted("a", "#red")).ok());
  watch_admission();
  std::string before;
  Change paint([&](Object& object) {
    before = get_string_path(object, "data.hue");
    ensure_object(object, "data")["hue"] = "#blue";
  });
  const auto updated = update("a", paint);
  ASSERT_TRUE(updated.ok()) << updated.status().message();
  EXPECT_EQ(before, "#red");
  EXPECT_EQ(get_string_path(parsed(updated->object), "data.hue"), "#blue");
  EXPECT_NE(bytes_of("a").find(R"("data":{"colour":"blue"})"), std::string::npos) << bytes_of("a");
  EXPECT_EQ(seen, std::vector<std::string>{"paint.example.com/v2 paint.example.com #blue #red"});
}

// Refuses each update with an error that quotes the data in the stored version.
struct QuotingStrategy final : TestStrategy {
  void validate_update(RequestContext&, const Object& object, const Object&, FieldErrors& errors) const override {
    errors.invalid_raw("data", to_json(object.at("data")), "is wrong");
  }
};

class SentPaint final : public UpdatedObjectInfo, public registry::SentValues {
 public:
  Task<Result<Object>> updated_object(RequestContext& context, const Object*) override {
    Object object = json::parse(painted(), context.arena()).as_object();
    object["data"].as_object().erase("empty");  // decoding removes empty values, too
    co_return object;
  }
  ClientWrite* client_write() noexcept override { return this; }
  Result<Value> sent(RequestContext&, const Object&) const override { return json::parse(painted()); }

 private:
  static const char* painted() {
    return R"({"kind":"Thing","apiVersion":"paint.example.com/v2","metadata":{"name":"a"},"data":{"hue":"#blue","empty":[]}})";
  }
};

TEST_F(ConvertingStoreTest, ARefusalQuotesWhatTheClientSentInItsVersion) {
  make_versions(nullptr, nullptr, std::make_shared<QuotingStrategy>());
  ASSERT_TRUE(create(painted("a", "#red")).ok());
  SentPaint sent;
  const auto refused = update("a", sent);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.status().message().find(R"("empty":[])"), std::string::npos) << refused.status().message();
}

TEST_F(ConvertingStoreTest, AnUpdateThatChangesNothingKeepsItsRevision) {
  make_versions();
  const auto created = create(painted("a", "#red"));
  Change nothing([](Object&) {});
  const auto updated = update("a", nothing);
  ASSERT_TRUE(updated.ok()) << updated.status().message();
  EXPECT_EQ(updated->object->revision, (*created)->revision);
  EXPECT_EQ(parsed(updated->object), parsed(*created));
}

TEST_F(ConvertingStoreTest, ErrorsNameTheVersionsOwnGroup) {
  make_versions();
  EXPECT_EQ(get("a").status().message(), R"(things.paint.example.com "a" not found)");
  ASSERT_TRUE(create(painted("a", "#red")).ok());
  EXPECT_EQ(create(painted("a", "#red")).status().message(), R"(things.paint.example.com "a" already exists)");
  Change stale([](Object& object) { ObjectMeta(object).set("resourceVersion", "99"); });
  EXPECT_EQ(update("a", stale).status().message(),
            R"(Operation cannot be fulfilled on things.paint.example.com "a": the object has been modified; please apply your changes to )"
            "the latest version and try again");
  EXPECT_EQ(remove("b").status().message(), R"(things.paint.example.com "b" not found)");
}

TEST_F(ConvertingStoreTest, ErrorsOfBothVersionsAreReportedTogether) {
  make_versions(std::make_shared<HueStrategy>());
  const auto bare = create(R"({"kind":"Thing","apiVersion":"paint.example.com/v2","metadata":{"name":"a"}})");
  ASSERT_TRUE(bare.ok()) << bare.status().message();
  EXPECT_EQ(get_string_path(parsed(*bare), "data.hue"), "#grey") << "defaults of the version";
  const auto refused =
      create(R"({"kind":"Thing","apiVersion":"paint.example.com/v2","metadata":{"name":"b"},"data":{"hue":"#none","bad":"yes"}})");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().message(),
            R"(Thing.example.com "b" is invalid: [data.hue: Invalid value: "#none": must be a hue, data.bad: Invalid value: "yes": must )"
            "not be bad]");
  Change wrong([](Object& object) { ensure_object(object, "data")["hue"] = "#none"; });
  EXPECT_EQ(update("a", wrong).status().reason(), Reason::kInvalid);
  Change stale([](Object& object) {
    ensure_object(object, "data")["hue"] = "#none";
    ObjectMeta(object).set("resourceVersion", "99");
  });
  EXPECT_EQ(update("a", stale).status().reason(), Reason::kConflict) << "versions are compared before rules are asked";
}

TEST_F(ConvertingStoreTest, DeletesShowAdmissionAndTheClientTheirVersion) {
  make_versions();
  ASSERT_TRUE(create(painted("a", "#red")).ok());
  ASSERT_TRUE(create(painted("b", "#green")).ok());
  watch_admission();
  const auto removed = remove("a");
  ASSERT_TRUE(removed.ok()) << removed.status().message();
  EXPECT_EQ(get_string_path(parsed(removed->object), "data.hue"), "#red");
  context = request("deletecollection");
  EXPECT_EQ(hues(run(store->remove_collection(*context, {}, {}))), std::vector<std::string>{"paint.example.com/v2 #green"});
  EXPECT_EQ(seen,
            (std::vector<std::string>{"paint.example.com/v2 paint.example.com - #red", "paint.example.com/v2 paint.example.com - #green"}));
  EXPECT_TRUE(storage.data.empty());
}

TEST_F(ConvertingStoreTest, DryRunsAnswerInTheirVersionAndStoreNothing) {
  make_versions();
  WriteOptions dry;
  dry.dry_run = true;
  const auto created = create(painted("a", "#red"), dry);
  ASSERT_TRUE(created.ok()) << created.status().message();
  EXPECT_EQ(get_string_path(parsed(*created), "data.hue"), "#red");
  EXPECT_TRUE(storage.data.empty());
}

TEST_F(ConvertingStoreTest, FieldLabelsAreThoseOfTheVersion) {
  make_versions();
  ASSERT_TRUE(list("data.hue=red").ok());
  ASSERT_EQ(cache().listed.back().fields.requirements().size(), 1u);
  EXPECT_EQ(cache().listed.back().fields.requirements()[0].field, "data.colour");
  EXPECT_EQ(list("data.colour=red").status().message(), "field label not supported: data.colour");
  EXPECT_TRUE(list("metadata.name=a").ok());
}

TEST_F(ConvertingStoreTest, AListIsConvertedBatchByBatch) {
  const auto converter = std::make_shared<CountingConverter>();
  make_versions(nullptr, converter);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(create(painted("a" + std::to_string(i), "#red")).ok());
  converter->batches.clear();
  EXPECT_EQ(hues(list()).size(), 5u);
  EXPECT_EQ(converter->batches, std::vector<std::size_t>{5});
}

TEST_F(ConvertingStoreTest, AConverterThatLosesObjectsIsAnError) {
  const auto converter = std::make_shared<CountingConverter>();
  make_versions(nullptr, converter);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(create(painted("a" + std::to_string(i), "#red")).ok());
  converter->short_by = 1;
  EXPECT_EQ(hues(list()).back(), "Internal error occurred: conversion to paint.example.com/v2: expected 5 converted objects, got 4");
}

TEST_F(ConvertingStoreTest, ARevisionIsConvertedOnceForAllItsReaders) {
  const auto converter = std::make_shared<CountingConverter>();
  const auto conversion = std::make_shared<const registry::Conversion>(registry::VersionForm{kServed, &schema_, nullptr},
                                                                       registry::VersionForm{kStored, &schema_, nullptr}, converter);
  const ObjectRef entry = make_object(parsed_text(R"({"kind":"Thing","apiVersion":"example.com/v1","data":{"colour":"red"}})"));
  const auto first = run(conversion->shown(entry));
  const auto second = run(conversion->shown(std::vector<ObjectRef>{entry, entry}));
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(get_string_path(parsed(*first), "data.hue"), "#red");
  EXPECT_EQ((*second)[0], *first);
  EXPECT_EQ((*second)[1], *first);
  EXPECT_EQ(converter->batches, std::vector<std::size_t>{1});
}

// Regression: after four changes of a definition each list converted all objects again.
TEST_F(ConvertingStoreTest, ARevisionIsConvertedOnceForEachConversionHoweverManyThereWere) {
  const auto converter = std::make_shared<CountingConverter>();
  const ObjectRef entry = make_object(parsed_text(R"({"kind":"Thing","apiVersion":"example.com/v1","data":{"colour":"red"}})"));
  for (std::size_t changes = 1; changes <= 10; ++changes) {
    const auto conversion = std::make_shared<const registry::Conversion>(registry::VersionForm{kServed, &schema_, nullptr},
                                                                         registry::VersionForm{kStored, &schema_, nullptr}, converter);
    for (int list = 0; list < 3; ++list) EXPECT_TRUE(run(conversion->shown(entry)).ok());
    EXPECT_EQ(converter->batches.size(), changes);
  }
}

class RefreshingConverter final : public ObjectConverter {
 public:
  Task<Result<std::vector<Object>>> convert(GroupVersionKind, GroupVersionKind, std::vector<Object> objects) const override {
    ++times;
    co_return objects;
  }
  Result<std::string> stored_field_label(const GroupVersionKind&, std::string_view label) const override { return std::string(label); }
  Revision refresh_until() const noexcept override { return 10; }
  mutable int times = 0;
};

// Regression: objects that a changed schema does not alter were cached twice.
TEST_F(ConvertingStoreTest, WhatAConversionLeavesAsItIsIsKeptOnce) {
  const auto converter = std::make_shared<RefreshingConverter>();
  const auto conversion = std::make_shared<const registry::Conversion>(registry::VersionForm{kStored, &schema_, nullptr},
                                                                       registry::VersionForm{kStored, &schema_, nullptr}, converter);
  const ObjectRef entry = make_object(parsed_text(R"({"kind":"Thing","apiVersion":"example.com/v1","metadata":{"resourceVersion":"7"}})"));
  for (int list = 0; list < 3; ++list) {
    const auto shown = run(conversion->shown(std::vector<ObjectRef>{entry}));
    ASSERT_TRUE(shown.ok());
    EXPECT_EQ(shown->front(), entry);
  }
  EXPECT_EQ(converter->times, 1);
}

TEST_F(ConvertingStoreTest, StatusAndScaleAreOfTheVersion) {
  make_versions();
  ASSERT_TRUE(
      create(R"({"kind":"Thing","apiVersion":"paint.example.com/v2","metadata":{"name":"a"},"data":{"hue":"#red"},"spec":{"replicas":2}})")
          .ok());
  auto status_strategy = std::make_shared<TestStrategy>();
  auto status = make_subresource_store(store, status_strategy);
  ASSERT_TRUE(status.ok());
  EXPECT_EQ((*status)->kind(), kServed);
  context = request("update");
  Change ready([](Object& object) { ensure_object(object, "status")["phase"] = get_string_path(object, "data.hue"); });
  const auto updated = run(dynamic_cast<Updater&>(**status).update(*context, "a", ready, {}, false));
  ASSERT_TRUE(updated.ok()) << updated.status().message();
  EXPECT_EQ(get_string_path(parsed(updated->object), "status.phase"), "#red");
  EXPECT_NE(bytes_of("a").find(R"("status":{"phase":"#red"})"), std::string::npos) << bytes_of("a");

  auto scale = make_scale_store(store, {});
  ASSERT_TRUE(scale.ok());
  context = request("update");
  Change larger([](Object& object) { ensure_object(object, "spec")["replicas"] = 7; });
  ASSERT_TRUE(run(dynamic_cast<Updater&>(**scale).update(*context, "a", larger, {}, false)).ok());
  EXPECT_EQ(get_int_path(parsed(*get("a")), "spec.replicas"), 7);
  EXPECT_EQ(get_int_path(parsed(*get("a")), "metadata.generation"), 2) << "counted on what is stored";
}

TEST_F(ConvertingStoreTest, TwoKindsOnOnePrefixAreRefusedUnlessOneIsAViewOfTheOther) {
  environment.use_scheme(scheme());
  ResourceConfig config = view_config(std::make_shared<TestStrategy>());
  config.kind = kStored;
  config.stored_kind = {};
  auto first = make_store(environment, config);
  ASSERT_TRUE(first.ok());
  ResourceConfig second = view_config(std::make_shared<TestStrategy>());
  second.stored_kind = {};
  EXPECT_EQ(make_store(environment, second).status().message(),
            R"(resource "things" (paint.example.com/v2, Kind=Thing): objects under /registry/things/ are example.com/v1, Kind=Thing; )"
            "another version refers to it by stored_kind");
  second.stored_kind = {"example.com", "v9", "Thing"};
  EXPECT_EQ(
      make_store(environment, second).status().message(),
      R"(Internal error occurred: resource "things": paint.example.com/v2, Kind=Thing is to be stored as example.com/v9, Kind=Thing, )"
      "but it is example.com/v1, Kind=Thing that is stored under /registry/things/");
  second.storage_prefix = "elsewhere";
  EXPECT_EQ(
      make_store(environment, second).status().message(),
      R"(Internal error occurred: resource "things": paint.example.com/v2, Kind=Thing is to be stored as example.com/v9, Kind=Thing, )"
      "but nothing is stored under /registry/elsewhere/");
  second.storage_prefix = "things";
  second.stored_kind = kStored;
  EXPECT_TRUE(make_store(environment, second).ok());
  store = *first;
}

}  // namespace
}  // namespace backplane::registry_test
