#include "endpoints/metadata_only.hpp"

#include "backplane/json.hpp"
#include "backplane/schema.hpp"
#include "endpoints/json_scan.hpp"

namespace backplane::endpoints {
namespace {

// Metadata with sorted keys, in the order of ObjectMeta.
void append_in_order(std::string& out, std::string_view metadata) {
  static const Schema& schema = *meta_schemas()->find("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");
  json::error_code error;
  Value tree = json::parse(json::string_view(metadata.data(), metadata.size()), error);
  // Stored bytes are canonical; should they not be, they are shown as they are.
  if (error || !schema.normalize(tree, nullptr).ok()) {
    out.append(metadata);
  } else {
    append_json(out, tree);
  }
}

}  // namespace

void append_metadata_only(std::string& out, const ObjectEntry& entry, std::string_view version, bool sorted_keys) {
  out.append(R"({"kind":"PartialObjectMetadata","apiVersion":")").append(version).append(R"(","metadata":)");
  const std::string_view metadata = raw_member(entry.json.view(), "metadata");
  if (metadata.empty()) {
    out.append("{}");
  } else if (sorted_keys) {
    append_in_order(out, metadata);
  } else {
    out.append(metadata);
  }
  out.push_back('}');
}

}  // namespace backplane::endpoints
