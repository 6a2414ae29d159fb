// Descriptions of API operations for OpenAPI documents.
#include <algorithm>

#include "routing/openapi.hpp"

namespace backplane {
namespace {

// "{}" is replaced by the kind of the resource. For a subresource, the text is "SUBRESOURCE of KIND".
struct ActionText {
  std::string_view action, text;
};
constexpr ActionText kTexts[] = {
    {"list", "Lists objects of kind {}, or watches them."},
    {"post", "Creates {}."},
    {"deletecollection", "Deletes every {} that the selectors choose."},
    {"get", "Reads {} by name."},
    {"put", "Replaces {} by name."},
    {"patch", "Changes parts of {} by name."},
    {"delete", "Deletes {} by name."},
    {"watch", "Watches {} by name. Deprecated: list with watch and a field selector of metadata.name does the same."},
    {"watchlist", "Watches objects of kind {}. Deprecated: list with watch does the same."},
};

// The descriptions of pages, by the suffix of the operationId.
constexpr ActionText kPages[] = {
    {"APIResources", "Lists the resources of the group version."},
    {"APIGroup", "Returns the versions of the group."},
    {"CoreAPIVersions", "Lists the versions of the core group."},
    {"APIVersions", "Lists the groups and their versions."},
    {"CodeVersion", "Returns the version of this server."},
    {"OpenIDConfiguration", "Returns the issuer of service account tokens and the URL of its keys."},
    {"OpenIDKeyset", "Returns the keys that verify service account tokens."},
};

std::string method_name(std::string_view method) {
  std::string out(method);
  std::transform(out.begin(), out.end(), out.begin(), [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return out;
}

}  // namespace

std::string openapi_description(const OpenApiOperation& operation) {
  const std::string& subresource = operation.row->subresource;
  const std::string what = (subresource.empty() ? "" : subresource + " of ") + operation.subject;
  if (operation.action == "connect") return "Forwards " + method_name(operation.method) + " requests to " + what + " by name.";
  const auto* row =
      std::find_if(std::begin(kTexts), std::end(kTexts), [&](const ActionText& each) { return each.action == operation.action; });
  if (row == std::end(kTexts)) return {};
  std::string out(row->text);
  const std::size_t hole = out.find("{}");
  return hole == std::string::npos ? out : out.replace(hole, 2, what);
}

std::string_view openapi_description(const OpenApiPage& page) {
  const auto* row =
      std::find_if(std::begin(kPages), std::end(kPages), [&](const ActionText& each) { return page.id.ends_with(each.action); });
  return row != std::end(kPages) ? row->text : std::string_view();
}

}  // namespace backplane
