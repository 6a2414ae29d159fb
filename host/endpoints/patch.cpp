#include <algorithm>
#include <array>
#include <optional>

#include "base/home.hpp"
#include "endpoints/body.hpp"
#include "endpoints/errors.hpp"
#include "endpoints/patched_object.hpp"
#include "endpoints/respond.hpp"
#include "endpoints/sent_values.hpp"
#include "endpoints/verb_options.hpp"
#include "endpoints/verbs.hpp"

namespace backplane::endpoints {
namespace {

struct PatchTypeRow {
  std::string_view content_type;
  PatchType type;
};
constexpr std::array<PatchTypeRow, 3> kPatchTypes = {{
    {"application/json-patch+json", PatchType::kJson},
    {"application/merge-patch+json", PatchType::kMerge},
    {"application/strategic-merge-patch+json", PatchType::kStrategic},
}};

// Custom resources have no Go type to take merge keys from; what is offered for them is offered for their scale, too.
bool offered(const Resource& resource, PatchType type) {
  return type != PatchType::kStrategic || (resource.schema != nullptr && !resource.scope.published);
}

Result<PatchType> patch_type(const Resource& resource, const Exchange& exchange) {
  const std::string_view given = bare_content_type(exchange);
  std::string types;
  for (const PatchTypeRow& row : kPatchTypes) {
    if (!offered(resource, row.type)) continue;
    if (row.content_type == given) return row.type;
    types.append(types.empty() ? "" : ", ").append(row.content_type);
  }
  return unsupported_media_type(types);
}

}  // namespace

Task<Status> serve_patch(const Resource& resource, RequestContext& context, Exchange& exchange) {
  const Home home;
  auto type = patch_type(resource, exchange);
  if (!type.ok()) co_return std::move(type.status());
  if (context.info.name.empty()) co_return bad_request("name must be provided");
  auto media = negotiate(exchange, resource.offers);
  if (!media.ok()) co_return std::move(media.status());
  auto body = co_await read_request_body(exchange, resource.scope.max_body_bytes);
  if (!body.ok()) co_return std::move(body.status());
  auto options = write_options(request_query(exchange), WriteVerb::kPatch);
  if (!options.ok()) co_return std::move(options.status());
  context.dry_run = options->dry_run;
  PatchedObject info(resource, *type, std::move(*body), options->field_validation);
  auto patching = resource.patcher->update(context, context.info.name, info, std::move(*options), /*force_allow_create=*/false);
  auto patched = co_await std::move(patching);
  co_await home;
  if (!patched.ok()) {
    // A merge has the shape of the object; in a list of operations no field is found.
    quote_sent_values(patched.status(), info.text(), BodyFormat::kJson);
    co_return std::move(patched.status());
  }
  const int code = patched->created ? 201 : 200;
  auto sending = send_object(resource, context, exchange, *media, code, std::move(patched->object));
  Status sent = co_await std::move(sending);
  co_return sent;
}

}  // namespace backplane::endpoints
