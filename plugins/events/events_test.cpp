#include <gtest/gtest.h>

#include "conversion.hpp"
#include "strategy.hpp"

namespace backplane::events {
namespace {

Object parsed(const char* text) { return json::parse(text).as_object(); }

TEST(EventConversionTest, EveryMemberComesBackUnderItsOwnName) {
  Scheme scheme;
  ASSERT_TRUE(add_conversions(scheme).ok());
  const Object served = parsed(
      R"({"kind":"Event","apiVersion":"events.k8s.io/v1","metadata":{"name":"e"},"eventTime":"2020-01-01T00:00:00.000000Z",
          "series":{"count":2},"reportingController":"c","regarding":{"name":"p"},"note":"n","deprecatedSource":{"component":"s"},
          "deprecatedFirstTimestamp":"2020-01-01T00:00:00Z","deprecatedLastTimestamp":null,"deprecatedCount":3})");
  Object object = served;
  ASSERT_TRUE(scheme.convert(kServed, kStored, object).ok());
  EXPECT_EQ(object, parsed(R"({"kind":"Event","apiVersion":"v1","metadata":{"name":"e"},"eventTime":"2020-01-01T00:00:00.000000Z",
          "series":{"count":2},"reportingComponent":"c","involvedObject":{"name":"p"},"message":"n","source":{"component":"s"},
          "firstTimestamp":"2020-01-01T00:00:00Z","lastTimestamp":null,"count":3})"));
  ASSERT_TRUE(scheme.convert(kStored, kServed, object).ok());
  EXPECT_EQ(object, served);
}

TEST(EventConversionTest, NamesOfTheOtherVersionAreNotMembers) {
  Scheme scheme;
  ASSERT_TRUE(add_conversions(scheme).ok());
  Object object = parsed(R"({"kind":"Event","apiVersion":"events.k8s.io/v1","message":"smuggled"})");
  ASSERT_TRUE(scheme.convert(kServed, kStored, object).ok());
  EXPECT_EQ(find(object, "message"), nullptr);
}

TEST(EventConversionTest, SelectorsNameWhatTheVersionHas) {
  Scheme scheme;
  ASSERT_TRUE(scheme.add_field_labels(kServed, events_group()->kind(kServed.kind).field_labels).ok());
  EXPECT_EQ(*scheme.stored_field_label(kServed, "regarding.kind"), "involvedObject.kind");
  EXPECT_EQ(*scheme.stored_field_label(kServed, "reportingController"), "reportingComponent");
  EXPECT_EQ(scheme.stored_field_label(kServed, "involvedObject.kind").status().message(), "field label not supported: involvedObject.kind");
}

std::string problems_of(const Object& event, const Object* old) {
  RequestContext context;
  FieldErrors errors;
  if (old != nullptr)
    EventStrategy().validate_update(context, event, *old, errors);
  else
    EventStrategy().validate(context, event, errors);
  return errors.aggregate_message();
}

TEST(EventStrategyTest, ANewEventIsCompleteAndUsesNoOldMember) {
  EXPECT_EQ(problems_of(parsed(R"({"metadata":{"name":"e","namespace":"n"},"eventTime":"2020-01-01T00:00:00.000000Z","type":"Normal"})"),
                        nullptr),
            "");
  EXPECT_EQ(
      problems_of(parsed(R"({"metadata":{"name":"e","namespace":"n"},"type":"Odd","series":{"count":1},"deprecatedCount":1,
                                   "deprecatedFirstTimestamp":"2020-01-01T00:00:00Z","deprecatedLastTimestamp":"2020-01-01T00:00:00Z",
                                   "deprecatedSource":{"host":"h"}})"),
                  nullptr),
      R"([series.count: Invalid value: "": should be at least 2, series.lastObservedTime: Required value, eventTime: Required value, )"
      R"(type: Invalid value: "": has invalid value: Odd, firstTimestamp: Invalid value: "": needs to be unset, )"
      R"(lastTimestamp: Invalid value: "": needs to be unset, count: Invalid value: "": needs to be unset, )"
      R"(source: Invalid value: "": needs to be unset])");
}

TEST(EventStrategyTest, AnUpdateChangesTheSeriesAlone) {
  const Object old = parsed(R"({"eventTime":"2020-01-01T00:00:00.000000Z","type":"Normal","regarding":{"name":"p"},"note":"n"})");
  EXPECT_EQ(problems_of(parsed(R"({"eventTime":"2020-01-01T00:00:00.000000Z","type":"Normal","regarding":{"name":"p"},"note":"n",
                                   "series":{"count":2,"lastObservedTime":"2020-01-01T00:00:01.000000Z"}})"),
                        &old),
            "");
  EXPECT_EQ(
      problems_of(parsed(R"({"type":"Normal","regarding":{"name":"q"},"note":"m"})"), &old),
      R"([message: Invalid value: "m": field is immutable, eventTime: Invalid value: null: field is immutable, )"
      R"(involvedObject: Invalid value: {"Kind":"","Namespace":"","Name":"q","UID":"","APIVersion":"","ResourceVersion":"","FieldPath":""}: )"
      "field is immutable]");
}

TEST(EventStrategyTest, ACreationTimestampThatIsSentIsNotTaken) {
  const auto created = [](const char* time) {
    return parsed(
        (R"({"metadata":{"name":"e","namespace":"n","uid":"u","resourceVersion":"1","creationTimestamp":")" + std::string(time) + R"("}})")
            .c_str());
  };
  const Object old = created("2026-01-01T00:00:00Z");
  EXPECT_EQ(problems_of(created("2020-01-01T00:00:00Z"), &old), "");
}

}  // namespace
}  // namespace backplane::events
