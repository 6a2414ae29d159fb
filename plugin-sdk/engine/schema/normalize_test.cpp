#include <thread>

#include "engine/raw_json.hpp"
#include "schema/schema_test_support.hpp"

namespace backplane {
namespace {

std::string normalized(std::string_view text, DecodeReport* report = nullptr) {
  auto value = parse_json(text, {}, report);
  if (!value.ok()) return value.status().message();
  const Status status = widget().normalize(*value, report);
  return status.ok() ? to_json(*value) : status.message();
}
std::string spec(std::string_view members) { return R"({"spec":{"parts":[],)" + std::string(members) + "}}"; }
std::string printed(std::string_view members) {
  return R"({"metadata":{},"spec":{)" + std::string(members) + R"("strategy":{}},"status":{"seen":null}})";
}

TEST(NormalizeFreeJson, HasSortedKeys) {
  static constexpr std::string_view kDocument =
      R"({"definitions":{"Holder":{"type":"object","properties":{"any":{"x-backplane-type":"anyJson","x-backplane-pointer":true}}}}})";
  const auto set = SchemaSet::compile({&kDocument, 1});
  ASSERT_TRUE(set.ok());
  Value tree = *parse_json(R"({"any":{"z":1.0,"a":[{"y":1,"x":2}]}})", {}, nullptr);
  ASSERT_TRUE((*set)->find("Holder")->normalize(tree, nullptr).ok());
  EXPECT_EQ(to_json(tree), R"({"any":{"a":[{"x":2,"y":1}],"z":1}})");
}

TEST(Normalize, PrintsWhatGoPrintsForAnEmptyObject) {
  EXPECT_EQ(normalized("{}"), R"({"metadata":{},"spec":{"parts":null,"port":0,"strategy":{}},"status":{"seen":null}})");
  EXPECT_EQ(normalized("null"), normalized("{}"));
}

TEST(Normalize, PutsMembersInSchemaOrderAndKindFirst) {
  EXPECT_EQ(normalized(R"({"spec":{"tags":["a"],"parts":[],"count":2},"metadata":{"uid":"u","name":"n"},"apiVersion":"v","kind":"k"})"),
            R"({"kind":"k","apiVersion":"v","metadata":{"name":"n","uid":"u"},"spec":{"count":2,"parts":[],"tags":["a"],"port":0,)"
            R"("strategy":{}},"status":{"seen":null}})");
}

TEST(Normalize, LeavesOutEmptyMembersButNotSetPointers) {
  EXPECT_EQ(normalized(spec(R"("count":0,"mode":"","tags":[],"labels":{},"ratio":0,"replicas":0,"file":{})")),
            printed(R"("file":{},"replicas":0,"parts":[],"port":0,)"));
}

TEST(Normalize, TakesNullForUnset) {
  EXPECT_EQ(normalized(R"({"metadata":null,"spec":{"parts":null,"replicas":null,"port":null,"strategy":null}})"),
            R"({"metadata":{},"spec":{"parts":null,"port":0,"strategy":{}},"status":{"seen":null}})");
  EXPECT_EQ(normalized(R"({"spec":{"parts":[null],"labels":{"a":null}}})"),
            printed(R"("parts":[{"name":""}],"labels":{"a":""},"port":0,)"));
}

TEST(Normalize, BytesInAMapHaveNoNull) {
  EXPECT_EQ(normalized(spec(R"("blobs":{"a":null,"b":"YQ=="},"secret":null)")),
            printed(R"("parts":[],"port":0,"blobs":{"a":"","b":"YQ=="},)"));
}

TEST(Normalize, BringsScalarsIntoCanonicalForm) {
  EXPECT_EQ(normalized(spec(R"("limits":{"memory":"1024Ki","cpu":0.5},"secret":"YR==","port":"http")")),
            printed(R"("parts":[],"limits":{"cpu":"500m","memory":"1Mi"},"port":"http","secret":"YQ==",)"));
  EXPECT_EQ(normalized(R"({"status":{"seen":"2026-01-02T03:04:05.678+02:00"}})"),
            R"({"metadata":{},"spec":{"parts":null,"port":0,"strategy":{}},"status":{"seen":"2026-01-02T01:04:05Z"}})");
  EXPECT_EQ(normalized(spec(R"("secret":[65,66])")), printed(R"("parts":[],"port":0,"secret":"QUI=",)"));
}

// An update compares trees: a protobuf client, whose numbers are doubles, must not change values that it has only read.
TEST(Normalize, ANumberIsOneTreeHoweverItWasWritten) {
  const auto tree = [](std::string_view number) {
    auto value = *parse_json(spec("\"ratio\":" + std::string(number)), {}, nullptr);
    EXPECT_TRUE(widget().normalize(value, nullptr).ok());
    return value;
  };
  EXPECT_EQ(tree("1000"), tree("1000.0"));
  EXPECT_EQ(tree("1000"), tree("1e3"));
  EXPECT_EQ(tree("-4"), tree("-4.0"));
  EXPECT_EQ(tree("9007199254740993"), tree("9007199254740992")) << "a float64 holds no more";
  EXPECT_NE(tree("1.5"), tree("1"));
  for (const char* number :
       {"1000.0", "1.5", "1e18", "9223372036854775807", "18446744073709551615", "-9223372036854775808", "1e21", "-0.0"}) {
    const Value once = tree(number);
    Value again = *parse_json(to_json(once), {}, nullptr);
    EXPECT_EQ(again, once) << number;
  }
}

TEST(Normalize, KeepsRawValuesAsTheyCame) {
  const std::string sent = spec(R"("extra":{"z":null,"a":[1.0,{}]})");
  Value tree = *parse_json(sent, {}, nullptr);
  keep_raw(&widget(), tree, sent);
  ASSERT_TRUE(widget().normalize(tree, nullptr).ok());
  EXPECT_EQ(to_json(tree), printed(R"("parts":[],"port":0,"extra":{"z":null,"a":[1.0,{}]},)"));
}

TEST(Normalize, IsIdempotent) {
  const std::string once = normalized(spec(R"("tags":["x"],"limits":{"cpu":"0.1","a":1},"file":{"readOnly":true})"));
  EXPECT_EQ(normalized(once), once);
}

struct Wrong {
  std::string_view body, message;
};

TEST(Normalize, TypeErrorsAreWordedAsGoWordsThem) {
  const Wrong kCases[] = {
      {R"([])", "json: cannot unmarshal array into Go value of type v1.Widget"},
      {R"({"spec":[]})", "json: cannot unmarshal array into Go struct field Widget.spec of type v1.WidgetSpec"},
      {R"({"kind":7})", "json: cannot unmarshal number into Go struct field Widget.TypeMeta.kind of type string"},
      {R"({"spec":{"mode":7}})", "json: cannot unmarshal number into Go struct field WidgetSpec.spec.mode of type v1.Mode"},
      {R"({"spec":{"replicas":1.5}})", "json: cannot unmarshal number 1.5 into Go struct field WidgetSpec.spec.replicas of type int32"},
      {R"({"spec":{"replicas":1.0}})", "json: cannot unmarshal number 1.0 into Go struct field WidgetSpec.spec.replicas of type int32"},
      {R"({"spec":{"replicas":2147483648}})",
       "json: cannot unmarshal number 2147483648 into Go struct field WidgetSpec.spec.replicas of type int32"},
      {R"({"spec":{"count":"x"}})", "json: cannot unmarshal string into Go struct field WidgetSpec.spec.count of type int64"},
      {R"({"spec":{"count":9223372036854775808}})",
       "json: cannot unmarshal number 9223372036854775808 into Go struct field WidgetSpec.spec.count of type int64"},
      {R"({"spec":{"parts":{}}})", "json: cannot unmarshal object into Go struct field WidgetSpec.spec.parts of type []v1.Part"},
      {R"({"spec":{"parts":[[]]}})", "json: cannot unmarshal array into Go struct field WidgetSpec.spec.parts of type v1.Part"},
      {R"({"spec":{"parts":[{},{"name":true}]}})", "json: cannot unmarshal bool into Go struct field Part.spec.parts.name of type string"},
      {R"({"spec":{"labels":[]}})", "json: cannot unmarshal array into Go struct field WidgetSpec.spec.labels of type map[string]string"},
      {R"({"spec":{"labels":{"a":1}}})", "json: cannot unmarshal number into Go struct field WidgetSpec.spec.labels of type string"},
      {R"({"spec":{"limits":[]}})", "json: cannot unmarshal array into Go struct field WidgetSpec.spec.limits of type v1.ResourceList"},
      {R"({"spec":{"file":{"readOnly":"yes"}}})",
       "json: cannot unmarshal string into Go struct field File.spec.Source.file.readOnly of type bool"},
      {R"({"spec":{"port":true}})", "json: cannot unmarshal bool into Go struct field WidgetSpec.spec.port of type int32"},
      {R"({"spec":{"secret":"a b="}})", "illegal base64 data at input byte 1"},
      {R"({"spec":{"limits":{"cpu":"x"}}})", "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"},
      {R"({"spec":{"limits":{"cpu":"1KK"}}})", "unable to parse quantity's suffix"},
      {R"({"status":{"seen":""}})", R"(parsing time "" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "2006")"},
      {R"({"status":{"seen":"2026-13-01T00:00:00Z"}})", R"(parsing time "2026-13-01T00:00:00Z": month out of range)"},
      {R"({"status":{"seen":"2026-02-30T00:00:00Z"}})", R"(parsing time "2026-02-30T00:00:00Z": day out of range)"},
      {R"({"status":{"seen":5}})", "json: cannot unmarshal number into Go struct field WidgetStatus.status.seen of type string"},
      {R"({"status":{"shaped":5}})", "boolean or JSON schema expected"},
      {R"({"status":{"shaped":{"name":5}}})",
       "json: cannot unmarshal number into Go struct field WidgetStatus.status.shaped.name of type string"},
  };
  for (const Wrong& one : kCases) EXPECT_EQ(normalized(one.body), one.message) << one.body;
}

TEST(Normalize, AnErrorOfATypesOwnDecoderWinsOverAnEarlierTypeError) {
  EXPECT_EQ(normalized(R"({"spec":{"count":"x","limits":{"cpu":""}}})"),
            "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
}

TEST(Normalize, DropsAndReportsUnknownMembersBetweenDuplicates) {
  DecodeReport report;
  const std::string text = R"({"zz":1,"spec":{"count":1,"count":2,"nope":true,"parts":[{"name":"a"},{"imagee":"x"}],)"
                           R"("labels":{"a":"1","a":"2"}},"zz":{"x":1,"x":2}})";
  EXPECT_EQ(normalized(text, &report), printed(R"("count":2,"parts":[{"name":"a"},{"name":""}],"labels":{"a":"2"},"port":0,)"));
  const std::vector<std::string> expected{"duplicate field \"spec.count\"", "unknown field \"spec.nope\"",
                                          "unknown field \"spec.parts[1].imagee\"", "duplicate field \"spec.labels.a\"",
                                          "unknown field \"zz\""};
  EXPECT_EQ(report.problems, expected);
}

TEST(Normalize, ShapesDecodeTheirOwnValuesAndReportNothing) {
  DecodeReport report;
  EXPECT_EQ(normalized(R"({"spec":{"parts":[]},"status":{"shaped":{"zz":1,"name":"n"}}})", &report),
            R"({"metadata":{},"spec":{"parts":[],"port":0,"strategy":{}},"status":{"seen":null,"shaped":{"name":"n"}}})");
  EXPECT_TRUE(report.problems.empty());
  EXPECT_EQ(normalized(R"({"spec":{"parts":[]},"status":{"shaped":false}})"),
            R"({"metadata":{},"spec":{"parts":[],"port":0,"strategy":{}},"status":{"seen":null,"shaped":false}})");
}

TEST(Normalize, ErrorsOfRestoringFromAMapHaveUpstreamsText) {
  const Wrong kCases[] = {
      {R"({"spec":{"parts":"x"}})", "cannot restore slice from string"},
      {R"({"spec":{"labels":7}})", "cannot restore map from int64"},
      {R"({"spec":{"file":[]}})", "cannot restore struct from: slice"},
      {R"({"spec":{"mode":7}})", "cannot convert int64 to v1.Mode"},
      {R"({"spec":{"count":"x"}})", "unrecognized type: int64"},
      {R"({"spec":{"replicas":1.5}})", "cannot convert float64 to int32"},
      {R"({"status":{"seen":5}})", "json: cannot unmarshal number into Go value of type string"},
  };
  for (const Wrong& one : kCases) {
    DecodeReport report;
    report.restore = true;
    EXPECT_EQ(normalized(one.body, &report), one.message) << one.body;
  }
}

TEST(Defaults, FillUnsetMembersAtEveryLevel) {
  Value value = json_of(R"({"spec":{"parts":[{"name":"a","protocol":"UDP"},{"name":"b"}],"tags":["t"]}})");
  ASSERT_TRUE(widget().normalize(value, nullptr).ok());
  widget().apply_defaults(value);
  ASSERT_TRUE(widget().normalize(value, nullptr).ok());  // the result replaces the input
  EXPECT_EQ(to_json(value.at("spec")),
            R"({"replicas":1,"parts":[{"name":"a","protocol":"UDP"},{"name":"b","protocol":"TCP"}],"tags":["t"],"port":0,"strategy":{}})");
}

TEST(Normalize, ManyThreadsMayMakeTheFirstUse) {
  const std::string_view documents[] = {kWidgets};
  auto set = SchemaSet::embedded(documents);
  ASSERT_TRUE(set.ok());
  const Schema* schema = (*set)->find("test.api.v1.Widget");
  std::vector<std::thread> threads;
  std::vector<std::string> results(4);
  for (std::size_t i = 0; i < results.size(); ++i) {
    threads.emplace_back([&, i] {
      Value value = *parse_json(R"({"spec":{"parts":[{"image":"i"}]}})", {}, nullptr);
      if (schema->normalize(value, nullptr).ok()) results[i] = to_json(value);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& result : results) EXPECT_EQ(result, printed(R"("parts":[{"name":"","image":"i"}],"port":0,)"));
}

}  // namespace
}  // namespace backplane
