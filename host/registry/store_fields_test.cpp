// metadata.managedFields of writes through the store, and server-side apply.
#include "engine/raw_json.hpp"
#include "registry/fields/applied_object.hpp"
#include "registry/fields/managers.hpp"
#include "registry/fields/raw_managers.hpp"
#include "registry/sent_values.hpp"
#include "registry/store_fixture.hpp"

namespace backplane::registry_test {
namespace {

using registry::AppliedObject;

// A configuration as a client sends it.
class Applied final : public AppliedObject {
 public:
  Applied(std::string manager, std::string text, bool force = false)
      : AppliedObject(std::move(manager), force), configuration_(json::parse(text).as_object()) {}
  Result<const Object*> configuration(RequestContext&) override { return &configuration_; }
  Status accept(RequestContext&, Object&, const Object*) override { return {}; }

 private:
  Object configuration_;
};

class StoreFieldsTest : public StoreTest {
 protected:
  static WriteOptions by(std::string manager) {
    WriteOptions options;
    options.field_manager = std::move(manager);
    return options;
  }
  Result<UpdateResult> apply(Applied& applied) {
    context = request("patch");
    return run(store->update(*context, "a", applied, by(applied.manager()), true));
  }
  // The entries of managedFields as text: "manager:operation:fields", joined by spaces.
  static std::string record(const Object& object) {
    std::string out;
    const Value* managed = registry::managed_fields_of(object);
    if (managed == nullptr) return out;
    for (const Value& each : managed->get_array()) {
      const Object& entry = each.get_object();
      if (!out.empty()) out += " ";
      out += std::string(get_string(entry, "manager")) + ":" + std::string(get_string(entry, "operation")) + ":" +
             to_json(entry.at("fieldsV1"));
    }
    return out;
  }
  std::string stored_record() { return record(parsed(*get("a"))); }
  static std::string with_data(const std::string& data) { return thing(R"("name":"a","namespace":"default")", R"(,"data":)" + data); }
};

TEST_F(StoreFieldsTest, ACreateOwnsWhatItSets) {
  make(std::make_shared<TestStrategy>());
  ASSERT_TRUE(create(with_data(R"({"k":"1"})"), by("m")).ok());
  EXPECT_EQ(stored_record(), R"(m:Update:{"f:data":{".":{},"f:k":{}}})");
  const Object entry = registry::managed_fields_of(parsed(*get("a")))->get_array().front().get_object();
  EXPECT_EQ(get_string(entry, "apiVersion"), "example.com/v1");
  EXPECT_FALSE(get_string(entry, "time").empty());
}

TEST_F(StoreFieldsTest, AnUpdateTakesWhatItChangesAndOneThatChangesNothingIsNoWrite) {
  make(std::make_shared<TestStrategy>());
  ASSERT_TRUE(create(with_data(R"({"k":"1","l":"1"})"), by("m")).ok());
  Replacement changed(with_data(R"({"k":"2","l":"1"})"));
  ASSERT_TRUE(update("a", changed, by("n")).ok());
  EXPECT_EQ(stored_record(), R"(m:Update:{"f:data":{".":{},"f:l":{}}} n:Update:{"f:data":{"f:k":{}}})");
  const int before = storage.transactions;
  ASSERT_TRUE(update("a", changed, by("o")).ok());
  EXPECT_EQ(storage.transactions, before);
  Replacement removed(with_data(R"({"l":"1"})"));
  ASSERT_TRUE(update("a", removed, by("o")).ok());
  EXPECT_EQ(stored_record(), R"(m:Update:{"f:data":{".":{},"f:l":{}}})");
}

TEST_F(StoreFieldsTest, AManagerThatWritesItsFieldsAgainHasItsEntryRenewedAndNothingElse) {
  make(std::make_shared<TestStrategy>());
  ASSERT_TRUE(create(with_data(R"({"k":"1","l":"1","m":"1"})"), by("m")).ok());
  Change other([](Object& object) { object["data"].as_object()["l"] = "2"; });
  ASSERT_TRUE(update("a", other, by("n")).ok());
  // Sets the time of the entries to long ago.
  std::string text(storage.data[key("a")].value.view());
  const std::string_view member = R"("time":")";
  for (std::size_t at = text.find(member); at != std::string::npos; at = text.find(member, at + 1))
    text.replace(at + member.size(), 20, "2020-01-02T03:04:05Z");
  storage.put(key("a"), text);
  const std::string record = stored_record();
  EXPECT_EQ(record, R"(m:Update:{"f:data":{".":{},"f:k":{},"f:m":{}}} n:Update:{"f:data":{"f:l":{}}})");
  const auto times = [&] {
    std::vector<bool> old;
    const Object object = parsed(*get("a"));
    for (const Value& entry : registry::managed_fields_of(object)->get_array())
      old.push_back(get_string(entry.get_object(), "time") == "2020-01-02T03:04:05Z");
    return old;
  };
  Change again([](Object& object) { object["data"].as_object()["l"] = "3"; });
  ASSERT_TRUE(update("a", again, by("n")).ok());
  EXPECT_EQ(stored_record(), record);
  EXPECT_EQ(times(), (std::vector<bool>{true, false}));
  // Updates again without managedFields, and with one of the manager's own fields removed.
  Replacement less(with_data(R"({"k":"2","l":"3"})"));
  ASSERT_TRUE(update("a", less, by("m")).ok());
  EXPECT_EQ(stored_record(), R"(m:Update:{"f:data":{".":{},"f:k":{}}} n:Update:{"f:data":{"f:l":{}}})");
}

TEST_F(StoreFieldsTest, ARecordThatIsSentBackInAnotherOrderChangesNothing) {
  make(std::make_shared<TestStrategy>());
  ASSERT_TRUE(create(with_data(R"({"k":"1","l":"1"})"), by("m")).ok());
  const int before = storage.transactions;
  Change turned([](Object& object) {
    Value& entry = object["metadata"].as_object()["managedFields"].as_array().front();
    entry.as_object()["fieldsV1"] = json::parse(R"({"f:data":{"f:l":{},"f:k":{},".":{}}})");
  });
  ASSERT_TRUE(update("a", turned, by("n")).ok());
  EXPECT_EQ(storage.transactions, before);
  EXPECT_EQ(stored_record(), R"(m:Update:{"f:data":{".":{},"f:k":{},"f:l":{}}})");
}

TEST_F(StoreFieldsTest, ARecordThatAdmissionWritesAnewInWordsThatNeedEscapesIsTaken) {
  make(std::make_shared<TestStrategy>());
  ASSERT_TRUE(create(with_data(R"({"a\"b\\c":"1"})"), by("<m>")).ok());
  EXPECT_EQ(stored_record(), R"(<m>:Update:{"f:data":{".":{},"f:a\"b\\c":{}}})");
  admission.mutate = [](AdmissionAttributes& attributes) {
    Value& entry = (*attributes.object)["metadata"].as_object()["managedFields"].as_array().front();
    entry.as_object()["manager"] = "by \"admission\"";
  };
  Change changed([](Object& object) { object["data"].as_object()["k"] = "1"; });
  ASSERT_TRUE(update("a", changed, by("<m>")).ok());
  EXPECT_EQ(stored_record(), R"(by "admission":Update:{"f:data":{".":{},"f:a\"b\\c":{},"f:k":{}}})");
}

TEST_F(StoreFieldsTest, AdmissionSeesSortedMetadataOfACustomResource) {
  for (const bool structural : {false, true}) {
    make(std::make_shared<TestStrategy>(), structural);
    std::string shown;
    admission.mutate = [&](AdmissionAttributes& attributes) {
      for (const auto& member : (*attributes.object)["metadata"].as_object()) shown.append(member.key()).append(" ");
    };
    ASSERT_TRUE(create(thing(structural ? R"("labels":{"a":"b"},"name":"s")" : R"("labels":{"a":"b"},"name":"t")"), by("m")).ok());
    EXPECT_EQ(shown == "labels managedFields name namespace ", structural) << shown;
  }
}

TEST_F(StoreFieldsTest, ManagersAreTextUnlessAdmissionReadsThem) {
  make(std::make_shared<TestStrategy>());
  ASSERT_TRUE(create(with_data(R"({"k":"1"})"), by("m")).ok());
  std::string shown;
  const auto note = [&](const Object* object) {
    const Value* managed = registry::managed_fields_of(*object);
    shown += managed == nullptr ? "-" : is_raw(managed->get_array().front().get_object().at("fieldsV1")) ? "text" : "tree";
    shown += ' ';
  };
  admission.look = [&](const AdmissionAttributes& attributes) {
    note(attributes.object);
    note(attributes.old_object);
  };
  admission.mutate = [this](AdmissionAttributes& attributes) { admission.look(attributes); };
  for (const bool alone : {false, true}) {
    admission.leaves_alone = alone;
    shown.clear();
    Change changed([alone](Object& object) { object["data"].as_object()["l"] = alone ? "1" : "2"; });
    ASSERT_TRUE(update("a", changed, by("m")).ok());
    EXPECT_EQ(shown, alone ? "text text text text " : "tree tree tree tree ");
    EXPECT_EQ(stored_record(), R"(m:Update:{"f:data":{".":{},"f:k":{},"f:l":{}}})");
  }
}

// The number of JSON values in a tree.
std::size_t values_in(const Value& value) {
  std::size_t count = 1;
  if (value.is_array()) {
    for (const Value& item : value.get_array()) count += values_in(item);
  } else if (value.is_object()) {
    for (const auto& member : value.get_object()) count += values_in(member.value());
  }
  return count;
}

TEST_F(StoreFieldsTest, AWriteReadsNoneOfTheFieldsOfManagers) {
  make(std::make_shared<TestStrategy>());
  std::string data;
  for (int i = 0; i < 200; ++i) data += std::string(i == 0 ? "{" : ",") + "\"k" + std::to_string(i) + R"(":"1")";
  ASSERT_TRUE(create(with_data(data + "}"), by("m")).ok());
  const ObjectRef entry = *get("a");
  const Value whole = decode(*entry, {});
  const Value read = registry::decode_for_write(*entry, nullptr, {});
  // The parsed fieldsV1 has 200 fields, "f:data" and "."; the raw value is a list of two values.
  EXPECT_EQ(values_in(whole) - values_in(read), 200u);
  EXPECT_EQ(to_json(read), entry->json().view());
  Value expanded = read;
  registry::expand_managers(expanded.get_object());
  EXPECT_EQ(expanded, whole);
}

TEST_F(StoreFieldsTest, ARecordOfAnotherShapeIsReadAsItIs) {
  for (const char* managed :
       {R"([])", R"([{}])", R"([1])", R"({"fieldsV1":{"f:a":{}}})", R"([{"fieldsV1":null}])", R"([{"fieldsV1":{}},{"manager":"m"}])"}) {
    ObjectEntry entry;
    const std::string text = R"({"metadata":{"name":"a","managedFields":)" + std::string(managed) + "}}";
    entry.set_json(SharedBytes(std::string(text)));
    EXPECT_EQ(registry::decode_for_write(entry, nullptr, {}), decode(entry, {})) << managed;
  }
}

TEST_F(StoreFieldsTest, InternalWritesAreNotRecorded) {
  make(std::make_shared<TestStrategy>());
  ASSERT_TRUE(create(with_data(R"({"k":"1"})"), by("m")).ok());
  Change change([](Object& object) { ensure_object(object, "data")["k"] = "2"; });
  context = request("update");
  context->info.is_resource_request = false;
  ASSERT_TRUE(run(store->update(*context, "a", change, {}, false)).ok());
  EXPECT_EQ(stored_record(), R"(m:Update:{"f:data":{".":{},"f:k":{}}})");
}

TEST_F(StoreFieldsTest, AnEmptyEntryStartsTheRecordAnewWithTheFirstApply) {
  make(std::make_shared<TestStrategy>());
  ASSERT_TRUE(create(with_data(R"({"k":"1"})"), by("m")).ok());
  Replacement reset(thing(R"("name":"a","namespace":"default","managedFields":[{}])", R"(,"data":{"k":"1"})"));
  ASSERT_TRUE(update("a", reset, by("m")).ok());
  EXPECT_EQ(stored_record(), "");
  Replacement later(with_data(R"({"k":"2"})"));
  ASSERT_TRUE(update("a", later, by("m")).ok());
  EXPECT_EQ(stored_record(), "");
  Applied applied("x", with_data(R"({"l":"1"})"));
  ASSERT_TRUE(apply(applied).ok());
  EXPECT_EQ(stored_record(), R"(x:Apply:{"f:data":{".":{},"f:l":{}}} before-first-apply:Update:{"f:data":{".":{},"f:k":{}}})");
}

TEST_F(StoreFieldsTest, AClientsManagersCountUnlessTheyCannotBeRead) {
  make(std::make_shared<TestStrategy>());
  ASSERT_TRUE(create(with_data(R"({"k":"1"})"), by("m")).ok());
  const auto sent = [](const std::string& entry) {
    return thing(R"("name":"a","namespace":"default","managedFields":[)" + entry + "]", R"(,"data":{"k":"1"})");
  };
  Replacement malformed(sent(R"({"manager":"evil","operation":"Take"})"));
  ASSERT_TRUE(update("a", malformed, by("m")).ok());
  EXPECT_EQ(stored_record(), R"(m:Update:{"f:data":{".":{},"f:k":{}}})");
  Replacement other(sent(
      R"({"manager":"o","operation":"Apply","apiVersion":"example.com/v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:k":{}}}})"));
  ASSERT_TRUE(update("a", other, by("m")).ok());
  EXPECT_EQ(stored_record(), R"(o:Apply:{"f:data":{"f:k":{}}})");
}

TEST_F(StoreFieldsTest, ARecordThatAdmissionHasSpoiledIsPutBackWithAWarning) {
  make(std::make_shared<TestStrategy>());
  admission.mutate = [](AdmissionAttributes& attributes) {
    ensure_array(ensure_object(*attributes.object, "metadata"), "managedFields").emplace_back(json::object_kind);
  };
  ASSERT_TRUE(create(with_data(R"({"k":"1"})"), by("m")).ok());
  const auto warnings = context->warnings();
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_TRUE(warnings.front().ends_with("please fix your requests: operation must be `Apply` or `Update`")) << warnings.front();
  EXPECT_EQ(stored_record(), R"(m:Update:{"f:data":{".":{},"f:k":{}}})");
}

TEST_F(StoreFieldsTest, ApplyCreatesConflictsForcesSharesAndRemoves) {
  make(std::make_shared<TestStrategy>());
  Applied first("one", with_data(R"({"k":"1","l":"1"})"));
  auto made = apply(first);
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_TRUE(made->created);
  EXPECT_EQ(stored_record(), R"(one:Apply:{"f:data":{".":{},"f:k":{},"f:l":{}}})");

  Applied other("two", with_data(R"({"k":"2"})"));
  const auto refused = apply(other);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), 409);
  EXPECT_EQ(refused.status().message(), R"(Apply failed with 1 conflict: conflict with "one": .data.k)");
  ASSERT_EQ(refused.status().details()->causes.size(), 1u);
  EXPECT_EQ(refused.status().details()->causes.front().reason, "FieldManagerConflict");

  Applied forced("two", with_data(R"({"k":"2"})"), true);
  ASSERT_TRUE(apply(forced).ok());
  EXPECT_EQ(stored_record(), R"(one:Apply:{"f:data":{".":{},"f:l":{}}} two:Apply:{"f:data":{".":{},"f:k":{}}})");
  const int before = storage.transactions;
  ASSERT_TRUE(apply(forced).ok());
  EXPECT_EQ(storage.transactions, before);

  Applied shared("one", with_data(R"({"k":"2"})"));
  ASSERT_TRUE(apply(shared).ok());
  EXPECT_EQ(stored_record(), R"(one:Apply:{"f:data":{".":{},"f:k":{}}} two:Apply:{"f:data":{".":{},"f:k":{}}})");
  EXPECT_EQ(get_string_path(parsed(*get("a")), "data.l"), "");

  Applied nothing("two", thing(R"("name":"a","namespace":"default")"));
  ASSERT_TRUE(apply(nothing).ok());
  EXPECT_EQ(get_string_path(parsed(*get("a")), "data.k"), "2");
}

TEST_F(StoreFieldsTest, AConfigurationOfAnotherKindOrWithManagersIsRefused) {
  make(std::make_shared<TestStrategy>());
  Applied kind("m", R"({"kind":"Other","apiVersion":"v1","metadata":{"name":"a"}})");
  const auto wrong = apply(kind);
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.status().message(), "invalid object type: /v1, Kind=Other");
  Applied managers("m", thing(R"("name":"a","managedFields":[])"));
  const auto refused = apply(managers);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().message(), "metadata.managedFields must be nil");
}

// An UpdatedObjectInfo with which a plugin's storage wraps the client's before it calls the host's storage (upstream's
// WrapUpdatedObjectInfo).
class Labelled final : public WrappedObjectInfo {
 public:
  using WrappedObjectInfo::WrappedObjectInfo;

 protected:
  Task<Status> change(RequestContext&, Object& object, const Object*) override {
    ensure_object(object, "data")["by"] = "plugin";
    co_return Status();
  }
};

TEST_F(StoreFieldsTest, AWrappedApplyIsAnApply) {
  make(std::make_shared<TestStrategy>());
  for (const char* value : {"1", "2"}) {
    Applied applied("m", with_data(R"({"k":")" + std::string(value) + R"("})"));
    Labelled wrapped(applied);
    context = request("patch");
    const auto result = run(store->update(*context, "a", wrapped, by("m"), true));
    ASSERT_TRUE(result.ok()) << result.status().message();
    const Object object = parsed(*get("a"));
    EXPECT_EQ(get_string_path(object, "data.k"), value);
    EXPECT_EQ(get_string_path(object, "data.by"), "plugin");
    EXPECT_TRUE(record(object).starts_with(R"(m:Apply:{"f:data":{)")) << record(object);
  }
}

// Refuses all data with an error that quotes it.
struct Refusing final : TestStrategy {
  void validate_update(RequestContext&, const Object& object, const Object&, FieldErrors& errors) const override {
    errors.invalid_raw("data", to_json(object.at("data")), "is wrong");
  }
};

class SentUpdate final : public UpdatedObjectInfo, public registry::SentValues {
 public:
  explicit SentUpdate(std::string sent) : sent_(std::move(sent)) {}
  Task<Result<Object>> updated_object(RequestContext& context, const Object*) override {
    Object object = json::parse(sent_, context.arena()).as_object();
    object["data"].as_object().erase("empty");  // decoding removes empty values, too
    co_return object;
  }
  ClientWrite* client_write() noexcept override { return this; }
  Result<Value> sent(RequestContext&, const Object&) const override { return json::parse(sent_); }

 private:
  const std::string sent_;
};

TEST_F(StoreFieldsTest, ARefusalOfAWrappedUpdateQuotesWhatWasSent) {
  make(std::make_shared<Refusing>());
  ASSERT_TRUE(create(with_data(R"({"k":"1"})"), by("m")).ok());
  SentUpdate sent(with_data(R"({"k":"2","empty":[]})"));
  Labelled wrapped(sent);
  for (UpdatedObjectInfo* info : {static_cast<UpdatedObjectInfo*>(&sent), static_cast<UpdatedObjectInfo*>(&wrapped)}) {
    const auto refused = update("a", *info, by("m"));
    ASSERT_FALSE(refused.ok());
    EXPECT_NE(refused.status().message().find(R"("empty":[])"), std::string::npos) << refused.status().message();
  }
}

}  // namespace
}  // namespace backplane::registry_test
