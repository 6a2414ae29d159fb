// Tests of GET and LIST in every encoding and shape.
#include "base/yield.hpp"
#include "endpoints/testing/harness.hpp"

namespace backplane::testing {
namespace {

using ReadTest = Api;

const Headers kTableHeader = {{"Accept", "application/json;as=Table;v=v1;g=meta.k8s.io"}};
const Headers kMetadataHeader = {{"Accept", "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"}};
const Headers kMetadataListHeader = {{"Accept", "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"}};

TEST_F(ReadTest, GetReturnsTheStoredBytesWithoutACopy) {
  use_config_maps();
  const ObjectRef stored = store_->put(kStoredMap);
  const Response got = send("GET", "namespaces/n/configmaps/a");
  EXPECT_EQ(got.code(), 200);
  EXPECT_EQ(got.type(), "application/json");
  EXPECT_EQ(got.body(), std::string(kStoredMap) + "\n");
  EXPECT_EQ(got.exchange->first_piece, stored->json().view().data());
}

Task<void> wait_for(Promise<bool> promise) {
  const bool came = co_await promise.future();
  (void)came;
}

// Yields on the loop until `over` is true, and counts the turns.
Task<void> count_rounds(int& rounds, const bool& over) {
  while (!over) {
    ++rounds;
    co_await Yield{};
  }
}

Task<int> rounds_during(HttpHandler& handler, RequestContext& context, Exchange& exchange, int& rounds, bool& over) {
  const int before = rounds;
  co_await handler.handle(context, exchange);
  over = true;
  co_return rounds - before;
}

// Regression: a list blocked the loop from its first object to its last.
TEST_F(ReadTest, ALongListYieldsToOtherWorkOfItsLoop) {
  use_config_maps();
  constexpr int kObjects = 1'000;
  for (int i = 0; i < kObjects; ++i) {
    store_->put(R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"m)" + std::to_string(i) +
                R"(","namespace":"n","resourceVersion":"5"},"data":{"k":"v"}})");
  }
  const std::vector<std::pair<std::string, int>> wanted = {
      {"application/json", 3}, {"application/json;as=Table;v=v1;g=meta.k8s.io", 15}, {"application/yaml", 60}};
  for (const auto& [accept, least] : wanted) {
    auto exchange = std::make_shared<FakeExchange>("GET", "/api/v1/namespaces/n/configmaps", Headers{{"Accept", accept}}, std::string());
    RequestContext context;
    context.info = info_of(*exchange, "namespaces/n/configmaps");
    int rounds = 0;
    bool over = false;
    Promise<bool> ended;
    spawn_detached(loop_, count_rounds(rounds, over), [ended] { ended.set(true); });
    EXPECT_GE(run_on(loop_, rounds_during(*handler_, context, *exchange, rounds, over)), least) << accept;
    EXPECT_EQ(exchange->code, 200);
    run_on(loop_, wait_for(ended));
  }
}

class TurnsTest : public ReadTest {
 protected:
  // Returns the number of turns that other work of the loop got.
  int turns_of(std::string accept) {
    FakeExchange exchange("GET", "/api/v1/namespaces/n/configmaps", Headers{{"Accept", std::move(accept)}}, std::string());
    RequestContext context;
    context.info = info_of(exchange, "namespaces/n/configmaps");
    int rounds = 0;
    bool over = false;
    Promise<bool> ended;
    spawn_detached(loop_, count_rounds(rounds, over), [ended] { ended.set(true); });
    const int turns = run_on(loop_, rounds_during(*handler_, context, exchange, rounds, over));
    EXPECT_EQ(exchange.code, 200);
    run_on(loop_, wait_for(ended));
    return turns;
  }
};

// Regression: sixty-four rows of a megabyte each were written without a yield, which took half a second.
TEST_F(TurnsTest, LargeObjectsTakeMoreOfATurnThanSmallOnes) {
  use_config_maps();
  constexpr int kObjects = 32;
  for (int i = 0; i < kObjects; ++i) {
    store_->put(R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"m)" + std::to_string(i) +
                R"(","namespace":"n","resourceVersion":"5"},"data":{"k":")" + std::string(300'000, 'x') + "\"}}");
  }
  for (const char* accept : {"application/json;as=Table;v=v1;g=meta.k8s.io", "application/yaml",
                             "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"}) {
    EXPECT_GE(turns_of(accept), kObjects / 4) << accept;
  }
}

class SlowTable final : public TableConvertor {
 public:
  const std::vector<TableColumn>& columns() const override { return default_table_convertor().columns(); }
  Array cells(const Object& object, std::int64_t now_unix, json::storage_ptr storage) const override {
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(2);
    while (std::chrono::steady_clock::now() < until) {
    }
    return default_table_convertor().cells(object, now_unix, std::move(storage));
  }
};

TEST_F(TurnsTest, RowsThatTakeLongEndATurnSoon) {
  use_config_maps();
  constexpr int kObjects = 32;
  for (int i = 0; i < kObjects; ++i) {
    store_->put(R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"m)" + std::to_string(i) +
                R"(","namespace":"n","resourceVersion":"5"}})");
  }
  static const SlowTable slow;
  store_->convertor = &slow;
  handler_ = make_resource_handler(scope_);
  EXPECT_GE(turns_of("application/json;as=Table;v=v1;g=meta.k8s.io"), kObjects - 2);
}

TEST_F(ReadTest, GetPassesTheResourceVersionOn) {
  use_config_maps();
  store_->put(kStoredMap);
  send("GET", "namespaces/n/configmaps/a?resourceVersion=0");
  EXPECT_EQ(store_->get_options.resource_version, "0");
}

// Regression: the option was accepted and ignored.
TEST_F(ReadTest, ExportIsRefused) {
  use_config_maps();
  store_->put(kStoredMap);
  EXPECT_EQ(send("GET", "namespaces/n/configmaps/a?export=false").code(), 200);
  const Response got = send("GET", "namespaces/n/configmaps/a?export=true");
  EXPECT_EQ(got.code(), 400);
  EXPECT_NE(got.body().find("the export parameter, deprecated since v1.14, is no longer supported"), std::string::npos) << got.body();
}

TEST_F(ReadTest, AMissingObjectIsTheStoresStatus) {
  use_config_maps();
  const Response got = send("GET", "namespaces/n/configmaps/none");
  EXPECT_EQ(got.code(), 404);
  EXPECT_EQ(got.body(),
            "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\",\"message\":\"configmaps \\\"none\\\" not "
            "found\",\"reason\":\"NotFound\",\"details\":{\"name\":\"none\",\"kind\":\"configmaps\"},\"code\":404}\n");
}

// Regression: the outermost filter reported an exception of a storage as plain text.
TEST_F(ReadTest, AnExceptionOfAStorageIsAStatusInTheEncodingAskedFor) {
  use_config_maps();
  store_->on_get = [] { throw std::runtime_error("a bug"); };
  const Response json = send("GET", "namespaces/n/configmaps/a");
  EXPECT_EQ(json.code(), 500);
  EXPECT_EQ(json.type(), "application/json");
  EXPECT_EQ(json.body(),
            "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\",\"message\":\"an error on the server "
            "(\\\"\\\") has prevented the request from succeeding\",\"reason\":\"InternalError\",\"details\":{},\"code\":500}\n");
  store_->on_get = [] { throw 7; };
  const Response yaml = send("GET", "namespaces/n/configmaps/a", "", {{"Accept", "application/yaml"}});
  EXPECT_EQ(yaml.code(), 500);
  EXPECT_EQ(yaml.type(), "application/yaml");
  EXPECT_NE(yaml.body().find("reason: InternalError"), std::string::npos);
}

TEST_F(ReadTest, PrettyIsForQueriesAndForCurl) {
  use_config_maps();
  store_->put(kStoredMap);
  const std::string pretty = send("GET", "namespaces/n/configmaps/a?pretty=true").body();
  EXPECT_EQ(pretty.substr(0, 50), "{\n  \"kind\": \"ConfigMap\",\n  \"apiVersion\": \"v1\",\n  \"");
  EXPECT_TRUE(pretty.ends_with("\n}")) << "compact answers end with a newline, indented ones do not";
  EXPECT_EQ(send("GET", "namespaces/n/configmaps/a?pretty=1").body(), pretty);
  EXPECT_EQ(send("GET", "namespaces/n/configmaps/a", "", {{"User-Agent", "curl/8"}}).body(), pretty);
  EXPECT_EQ(send("GET", "namespaces/n/configmaps/a", "", {{"Accept", "application/json;pretty=1"}}).body(), pretty);
  EXPECT_EQ(send("GET", "namespaces/n/configmaps/a?pretty=false", "", {{"User-Agent", "curl/8"}}).body(), std::string(kStoredMap) + "\n");
}

TEST_F(ReadTest, GetAsYaml) {
  use_config_maps();
  store_->put(kStoredMap);
  const Response got = send("GET", "namespaces/n/configmaps/a", "", {{"Accept", "application/yaml"}});
  EXPECT_EQ(got.type(), "application/yaml");
  EXPECT_EQ(got.body(),
            "apiVersion: v1\ndata:\n  k: \"1\"\nkind: ConfigMap\nmetadata:\n  creationTimestamp: \"2026-01-01T00:00:00Z\"\n  labels:\n    "
            "x: \"y\"\n"
            "  name: a\n  namespace: \"n\"\n  resourceVersion: \"5\"\n  uid: u-a\n");
}

TEST_F(ReadTest, MetadataOnlyIsCutOutOfTheObject) {
  use_config_maps();
  store_->put(kStoredMap);
  EXPECT_EQ(
      send("GET", "namespaces/n/configmaps/a", "", kMetadataHeader).body(),
      R"({"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a","namespace":"n","uid":"u-a","resourceVersion":"5","creationTimestamp":"2026-01-01T00:00:00Z","labels":{"x":"y"}}})"
      "\n");
}

TEST_F(ReadTest, MetadataOfACustomResourceIsInTheOrderOfObjectMeta) {
  use_foos();
  store_->put(kStoredFoo);
  EXPECT_EQ(
      send("GET", "namespaces/n/foos/f", "", kMetadataHeader).body(),
      R"({"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"f","namespace":"n","uid":"u-f","resourceVersion":"5","generation":1,"creationTimestamp":"2026-01-01T00:00:00Z","ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u","controller":true}]}})"
      "\n");
}

TEST_F(ReadTest, ATableOfOneObjectHasItsVersionColumnsAndMetadata) {
  use_config_maps();
  store_->put(kStoredMap);
  const Value table = json::parse(send("GET", "namespaces/n/configmaps/a", "", kTableHeader).body());
  const Object& object = table.get_object();
  EXPECT_EQ(get_string(object, "kind"), "Table");
  EXPECT_EQ(get_string(object, "apiVersion"), "meta.k8s.io/v1");
  EXPECT_EQ(get_string_path(object, "metadata.resourceVersion"), "5");
  const Array& columns = *get_array(object, "columnDefinitions");
  ASSERT_EQ(columns.size(), 2u);
  EXPECT_EQ(get_string(columns[0].get_object(), "name"), "Name");
  EXPECT_EQ(get_string(columns[0].get_object(), "format"), "name");
  EXPECT_EQ(*get_int(columns[0].get_object(), "priority"), 0);
  const Object& row = get_array(object, "rows")->at(0).get_object();
  EXPECT_EQ(row.at("cells").at(0).get_string(), "a");
  EXPECT_EQ(get_string_path(row, "object.kind"), "PartialObjectMetadata");
}

TEST_F(ReadTest, IncludeObjectChoosesWhatARowHolds) {
  use_config_maps();
  store_->put(kStoredMap);
  const Value none = json::parse(send("GET", "namespaces/n/configmaps/a?includeObject=None", "", kTableHeader).body());
  EXPECT_TRUE(none.at("rows").at(0).at("object").is_null());
  const Value whole = json::parse(send("GET", "namespaces/n/configmaps/a?includeObject=Object", "", kTableHeader).body());
  EXPECT_EQ(whole.at("rows").at(0).at("object").at("kind").get_string(), "ConfigMap");
  const Response wrong = send("GET", "namespaces/n/configmaps/a?includeObject=All", "", kTableHeader);
  EXPECT_EQ(wrong.code(), 400);
  EXPECT_EQ(
      message_of(wrong),
      "Unable to convert to Table as requested: includeObject: Invalid value: \"All\": must be 'Metadata', 'Object', 'None', or empty");
}

TEST_F(ReadTest, TablesOfV1beta1NameThatVersion) {
  use_config_maps();
  store_->put(kStoredMap);
  const Value table =
      json::parse(send("GET", "namespaces/n/configmaps/a", "", {{"Accept", "application/json;as=Table;v=v1beta1;g=meta.k8s.io"}}).body());
  EXPECT_EQ(table.at("apiVersion").get_string(), "meta.k8s.io/v1beta1");
  EXPECT_EQ(table.at("rows").at(0).at("object").at("apiVersion").get_string(), "meta.k8s.io/v1beta1");
}

TEST_F(ReadTest, TheTableOfNothingOfAKindWithoutAPrinterHasNoRowsAtAll) {
  use_config_maps();
  const std::string body = send("GET", "namespaces/n/configmaps", "", kTableHeader).body();
  EXPECT_TRUE(body.ends_with("],\"rows\":null}\n")) << body;
  store_->put(kStoredMap);
  EXPECT_EQ(get_array(json::parse(send("GET", "namespaces/n/configmaps", "", kTableHeader).body()).get_object(), "rows")->size(), 1u);
}

TEST_F(ReadTest, AListOmitsKindAndVersionOfItsItems) {
  use_config_maps();
  store_->put(kStoredMap);
  const Response got = send("GET", "namespaces/n/configmaps");
  EXPECT_EQ(got.code(), 200);
  EXPECT_FALSE(got.exchange->streamed);
  EXPECT_EQ(
      got.body(),
      R"({"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"a","namespace":"n","uid":"u-a","resourceVersion":"5","creationTimestamp":"2026-01-01T00:00:00Z","labels":{"x":"y"}},"data":{"k":"1"}}]})"
      "\n");
}

TEST_F(ReadTest, AnEmptyListHasEmptyItems) {
  use_config_maps();
  EXPECT_EQ(send("GET", "namespaces/n/configmaps").body(),
            "{\"kind\":\"ConfigMapList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[]}\n");
  EXPECT_EQ(send("GET", "namespaces/n/configmaps", "", {{"Accept", "application/yaml"}}).body(),
            "apiVersion: v1\nitems: []\nkind: ConfigMapList\nmetadata:\n  resourceVersion: \"7\"\n");
}

TEST_F(ReadTest, APageHasAContinueTokenAndTheRemainingCount) {
  use_config_maps();
  store_->put(kStoredMap);
  store_->continue_token = "next";
  store_->remaining = 3;
  EXPECT_TRUE(
      send("GET", "namespaces/n/configmaps?limit=1")
          .body()
          .starts_with(
              R"({"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"7","continue":"next","remainingItemCount":3},"items":[)"));
  EXPECT_EQ(store_->list_options.limit, 1);
}

TEST_F(ReadTest, CustomResourcesListWholeItemsUnderSortedKeys) {
  use_foos();
  store_->put(kStoredFoo);
  EXPECT_EQ(send("GET", "namespaces/n/foos").body(), R"({"apiVersion":"example.com/v1","items":[)" + std::string(kStoredFoo) +
                                                         R"(],"kind":"FooList","metadata":{"continue":"","resourceVersion":"7"}})" + "\n");
}

TEST_F(ReadTest, AListAsYamlIsWrittenItemByItem) {
  use_config_maps();
  store_->put(kStoredMap);
  EXPECT_EQ(send("GET", "namespaces/n/configmaps", "", {{"Accept", "application/yaml"}}).body(),
            "apiVersion: v1\nitems:\n- data:\n    k: \"1\"\n  metadata:\n    creationTimestamp: \"2026-01-01T00:00:00Z\"\n    labels:\n    "
            "  x: \"y\"\n"
            "    name: a\n    namespace: \"n\"\n    resourceVersion: \"5\"\n    uid: u-a\nkind: ConfigMapList\nmetadata:\n  "
            "resourceVersion: \"7\"\n");
}

TEST_F(ReadTest, APrettyListIsTheIndentedFormOfThePlainOne) {
  use_config_maps();
  store_->put(kStoredMap);
  const std::string plain = send("GET", "namespaces/n/configmaps").body();
  EXPECT_EQ(send("GET", "namespaces/n/configmaps?pretty=true").body() + "\n", pretty_json(plain.substr(0, plain.size() - 1)));
}

TEST_F(ReadTest, ATableOfAListHasItsMetadataAndARowEach) {
  use_config_maps();
  store_->put(kStoredMap);
  store_->continue_token = "next";
  const Value table = json::parse(send("GET", "namespaces/n/configmaps", "", kTableHeader).body());
  EXPECT_EQ(table.at("metadata").at("continue").get_string(), "next");
  EXPECT_EQ(table.at("rows").get_array().size(), 1u);
  EXPECT_EQ(table.at("rows").at(0).at("object").at("metadata").at("name").get_string(), "a");
}

TEST_F(ReadTest, MetadataListsHoldMetadataOnly) {
  use_config_maps();
  store_->put(kStoredMap);
  const std::string body = send("GET", "namespaces/n/configmaps", "", kMetadataListHeader).body();
  EXPECT_TRUE(body.starts_with(
      R"({"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"7"},"items":[{"kind":"PartialObjectMetadata")"));
  EXPECT_EQ(body.find("\"data\""), std::string::npos);
}

TEST_F(ReadTest, ShapesThatDoNotFitAreNotAcceptable) {
  use_config_maps();
  store_->put(kStoredMap);
  const Response list = send("GET", "namespaces/n/configmaps", "", kMetadataHeader);
  EXPECT_EQ(list.code(), 406);
  EXPECT_EQ(message_of(list), "you requested PartialObjectMetadata, but the requested object is a list (*core.ConfigMapList)");
  const Response object = send("GET", "namespaces/n/configmaps/a", "", kMetadataListHeader);
  EXPECT_EQ(object.code(), 406);
  EXPECT_EQ(message_of(object), "you requested PartialObjectMetadataList, but the requested object is not a list (*core.ConfigMap)");
}

TEST_F(ReadTest, ALargeListIsStreamedInBoundedChunks) {
  use_config_maps();
  std::string expected = R"({"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[)";
  const std::string filler(1000, 'x');
  for (int i = 0; i < 1000; ++i) {
    const std::string metadata = R"("metadata":{"name":"o)" + std::to_string(i) + R"("},"data":{"k":")" + filler + R"("}})";
    store_->list_entries.push_back(make_object(json::parse(R"({"kind":"ConfigMap","apiVersion":"v1",)" + metadata).get_object()));
    if (i > 0) expected.push_back(',');
    expected.append("{").append(metadata);
  }
  expected.append("]}\n");
  const Response got = send("GET", "namespaces/n/configmaps");
  EXPECT_TRUE(got.exchange->streamed);
  EXPECT_TRUE(got.exchange->compressible);
  EXPECT_TRUE(got.exchange->finished);
  EXPECT_EQ(got.body(), expected);
  EXPECT_GT(got.exchange->writes.size(), 5u);
  for (const std::string& chunk : got.exchange->writes) EXPECT_LE(chunk.size(), 160u * 1024);
}

TEST_F(ReadTest, LargeObjectsOfAListAreSharedNotCopied) {
  use_config_maps();
  const std::string filler(40000, 'x');
  const std::string text = R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"big"},"data":{"k":")" + filler + R"("}})";
  store_->list_entries.push_back(make_object(json::parse(text).get_object()));
  const Response got = send("GET", "namespaces/n/configmaps");
  const Value list = json::parse(got.body());
  EXPECT_EQ(list.at("items").at(0).at("data").at("k").get_string().size(), filler.size());
  EXPECT_EQ(list.at("items").at(0).get_object().begin()->key(), "metadata");
}

TEST_F(ReadTest, AListStopsIfItsReaderDisconnects) {
  use_config_maps();
  const std::string filler(200000, 'x');
  const std::string text = R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"big"},"data":{"k":")" + filler + R"("}})";
  for (int i = 0; i < 5; ++i) store_->list_entries.push_back(make_object(json::parse(text).get_object()));
  FakeExchange exchange("GET", "/api/v1/namespaces/n/configmaps", {}, "");
  exchange.fail_after_writes = 2;
  send(exchange, "namespaces/n/configmaps");
  EXPECT_EQ(exchange.writes.size(), 2u);
  EXPECT_FALSE(exchange.finished);
}

TEST_F(ReadTest, AListThatFailsBeforeItsHeadIsTheStatus) {
  use_config_maps();
  store_->put(kStoredMap);
  store_->list_error = Status(Reason::kServiceUnavailable, "the other side has gone");
  const Response got = send("GET", "namespaces/n/configmaps");
  EXPECT_EQ(got.code(), 503);
  EXPECT_EQ(message_of(got), "the other side has gone");
  EXPECT_FALSE(got.exchange->aborted);
}

TEST_F(ReadTest, AListThatFailsHalfWayIsBrokenOff) {
  use_config_maps();
  std::string text = R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"},"data":{"k":")" + std::string(200'000, 'x') + "\"}}";
  store_->list_entries.push_back(make_object(json::parse(text).get_object()));
  store_->list_error = Status(Reason::kServiceUnavailable, "the other side has gone");
  const Response got = send("GET", "namespaces/n/configmaps");
  EXPECT_EQ(got.code(), 200);
  EXPECT_TRUE(got.exchange->aborted);
  EXPECT_FALSE(got.exchange->finished);
}

struct ListRule {
  std::string query;
  int code;
  std::string message;
};
TEST_F(ReadTest, ListOptionsThatMayNotStandTogetherAreRefused) {
  use_config_maps();
  const std::string invalid = "ListOptions.meta.k8s.io \"\" is invalid: ";
  const std::vector<ListRule> rules = {
      {"limit=x", 400, "strconv.ParseInt: parsing \"x\": invalid syntax"},
      {"limit=99999999999999999999", 400, "strconv.ParseInt: parsing \"99999999999999999999\": value out of range"},
      {"resourceVersionMatch=Exact", 422,
       invalid + "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided"},
      {"resourceVersionMatch=Exact&resourceVersion=0", 422,
       invalid + "resourceVersionMatch: Forbidden: resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\""},
      {"resourceVersionMatch=NotOlderThan&resourceVersion=5&continue=x", 422,
       invalid + "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided"},
      {"resourceVersionMatch=Odd&resourceVersion=5", 422,
       invalid + "resourceVersionMatch: Unsupported value: \"Odd\": supported values: \"Exact\", \"NotOlderThan\", \"\""},
      {"sendInitialEvents=true", 422, invalid + "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list"},
  };
  for (const ListRule& rule : rules) {
    const Response got = send("GET", "namespaces/n/configmaps?" + rule.query);
    EXPECT_EQ(got.code(), rule.code) << rule.query;
    EXPECT_EQ(message_of(got), rule.message) << rule.query;
  }
}

TEST_F(ReadTest, SelectorsAndMatchReachTheStore) {
  use_config_maps();
  send("GET", "namespaces/n/configmaps?labelSelector=a%3Db&fieldSelector=metadata.name%3Dc&resourceVersion=5&resourceVersionMatch=Exact");
  EXPECT_EQ(store_->list_options.labels.to_string(), "a=b");
  EXPECT_EQ(store_->list_options.fields.to_string(), "metadata.name=c");
  EXPECT_EQ(store_->list_options.match, ResourceVersionMatch::kExact);
  EXPECT_EQ(store_->list_options.resource_version, "5");
  EXPECT_FALSE(store_->list_options.watch);
}

TEST_F(ReadTest, ABadLabelSelectorIsABadRequest) {
  use_config_maps();
  EXPECT_EQ(send("GET", "namespaces/n/configmaps?labelSelector=a%3D%3D%3D").code(), 400);
}

TEST_F(ReadTest, AllNamespacesCanBeListed) {
  use_config_maps();
  EXPECT_EQ(send("GET", "configmaps").code(), 200);
}

TEST_F(ReadTest, DeprecatedVersionsWarnWithEveryAnswer) {
  use_config_maps();
  scope_.deprecation.warning = "v1 ConfigMap is deprecated in v1.99+";
  handler_ = make_resource_handler(scope_);
  EXPECT_EQ(send("GET", "namespaces/n/configmaps").warnings(), std::vector<std::string>{"299 - \"v1 ConfigMap is deprecated in v1.99+\""});
  EXPECT_EQ(send("GET", "namespaces/n/configmaps/none").warnings().size(), 1u);
}

}  // namespace
}  // namespace backplane::testing
