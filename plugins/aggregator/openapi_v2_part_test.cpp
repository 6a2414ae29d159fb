#include "openapi_v2_part.hpp"

#include <gtest/gtest.h>

namespace backplane {
namespace {

TEST(OpenApiV2Part, HasThePathsOfAGroupVersionAndWhatTheyReferTo) {
  const Object document = json::parse(R"({"swagger":"2.0",
    "paths":{
      "/apis/a.io/v1/things":{"get":{"parameters":[{"$ref":"#/parameters/limit-x"}],
        "responses":{"200":{"schema":{"$ref":"#/definitions/io.a.v1.ThingList"}}}}},
      "/apis/a.io/v1beta1/things":{"get":{"responses":{"200":{"schema":{"$ref":"#/definitions/io.a.v1beta1.Thing"}}}}},
      "/apis/a.io/":{"get":{}}},
    "definitions":{
      "io.a.v1.ThingList":{"properties":{"items":{"items":{"$ref":"#/definitions/io.a.v1.Thing"}}}},
      "io.a.v1.Thing":{"properties":{"next":{"$ref":"#/definitions/io.a.v1.Thing"},"other":{"$ref":"#/definitions/absent"}}},
      "io.a.v1beta1.Thing":{},
      "unused":{}},
    "parameters":{"limit-x":{"name":"limit"},"watch-y":{"name":"watch"}}})")
                              .as_object();
  const Object part = openapi_v2_part(document, {"a.io", "v1"});
  EXPECT_EQ(to_json(part),
            R"({"paths":{"/apis/a.io/v1/things":{"get":{"parameters":[{"$ref":"#/parameters/limit-x"}],)"
            R"("responses":{"200":{"schema":{"$ref":"#/definitions/io.a.v1.ThingList"}}}}}},)"
            R"("definitions":{"io.a.v1.ThingList":{"properties":{"items":{"items":{"$ref":"#/definitions/io.a.v1.Thing"}}}},)"
            R"("io.a.v1.Thing":{"properties":{"next":{"$ref":"#/definitions/io.a.v1.Thing"},"other":{"$ref":"#/definitions/absent"}}}},)"
            R"("parameters":{"limit-x":{"name":"limit"}}})");
}

}  // namespace
}  // namespace backplane
