#include <array>
#include <memory>

#include "base/offload_pool.hpp"
#include "base/origin_executor.hpp"
#include "endpoints/applied_patch.hpp"
#include "endpoints/audit_notes.hpp"
#include "endpoints/body.hpp"
#include "endpoints/errors.hpp"
#include "endpoints/handler_span.hpp"
#include "endpoints/patched_object.hpp"
#include "endpoints/respond.hpp"
#include "endpoints/sent_values.hpp"
#include "endpoints/storage_admission.hpp"
#include "endpoints/verb_options.hpp"
#include "endpoints/verbs.hpp"
#include "engine/codec.hpp"

namespace backplane::endpoints {
namespace {

// The type and the encoding of a patch, which its media type determines.
struct PatchForm {
  PatchType type = PatchType::kJson;
  bool applies = false;
  BodyFormat format = BodyFormat::kJson;
};
struct PatchTypeRow {
  std::string_view content_type;
  PatchForm form;
};
constexpr std::array<PatchTypeRow, 5> kPatchTypes = {{
    {"application/json-patch+json", {PatchType::kJson, false, BodyFormat::kJson}},
    {"application/merge-patch+json", {PatchType::kMerge, false, BodyFormat::kJson}},
    {"application/strategic-merge-patch+json", {PatchType::kStrategic, false, BodyFormat::kJson}},
    {"application/apply-patch+yaml", {PatchType::kJson, true, BodyFormat::kYaml}},
    {"application/apply-patch+cbor", {PatchType::kJson, true, BodyFormat::kCbor}},
}};

// Returns true if the resource accepts this kind of patch. Structural schemas have no merge keys, so custom resources and structural kinds
// of plugins accept no strategic merge patch. The scale of a custom resource accepts the same types as the custom resource.
bool offered(const Resource& resource, const RequestContext& context, const PatchForm& form) {
  if (form.format == BodyFormat::kCbor) return context.offers_cbor;
  if (form.applies || form.type != PatchType::kStrategic) return true;
  return resource.schema != nullptr && !resource.custom && !resource.scope.published;
}

Result<PatchForm> patch_form(const Resource& resource, const RequestContext& context, const Exchange& exchange) {
  const std::string_view given = bare_content_type(exchange);
  std::string types;
  for (const PatchTypeRow& row : kPatchTypes) {
    if (!offered(resource, context, row.form)) continue;
    if (row.content_type == given) return row.form;
    types.append(types.empty() ? "" : ", ").append(row.content_type);
  }
  return unsupported_media_type(types);
}

// The error of a patch whose type the resource does not accept. `unsupported`: the error, unless the storage refuses the patch.
Task<Status> unaccepted(const Resource& resource, RequestContext& context, Exchange& exchange, Status unsupported) {
  if (resource.refuser == nullptr) co_return unsupported;
  auto body = co_await read_request_body(resource, exchange, BodyVerb::kPatch);
  if (!body.ok()) co_return std::move(body.status());
  DecodeReport report;
  auto patch = parse_json(*body, context.arena(), &report);
  if (!patch.ok() || !patch->is_object()) co_return unsupported;
  Status refused = resource.refuser->patch_refusal(context.info, patch->get_object());
  co_return refused.ok() ? unsupported : refused;
}

// The patch as UpdatedObjectInfo for the storage, and its text.
struct Patch {
  std::unique_ptr<UpdatedObjectInfo> info;
  std::string_view text;
  AppliedPatch* applied = nullptr;  // set if the patch is an apply configuration
};

Patch make_patch(const Resource& resource, const PatchForm& form, std::string body, const WriteOptions& options) {
  if (form.applies) {
    auto applied = std::make_unique<AppliedPatch>(resource, std::move(body), form.format, options);
    const std::string_view text = applied->text();
    AppliedPatch* const as_applied = applied.get();
    return {std::move(applied), text, as_applied};
  }
  auto patched = std::make_unique<PatchedObject>(resource, form.type, std::move(body), options.field_validation);
  const std::string_view text = patched->text();
  return {std::move(patched), text};
}

}  // namespace

Task<Status> serve_patch(const Resource& resource, RequestContext& context, Exchange& exchange) {
  const OriginExecutor origin;
  auto form = patch_form(resource, context, exchange);
  if (!form.ok()) co_return co_await unaccepted(resource, context, exchange, std::move(form.status()));
  if (context.info.name.empty()) co_return bad_request("name must be provided");
  auto media = negotiate(context, exchange, resource.offers);
  if (!media.ok()) co_return std::move(media.status());
  auto body = co_await read_request_body(resource, exchange, BodyVerb::kPatch);
  if (!body.ok()) co_return std::move(body.status());
  trace_step(context, "limitedReadBody succeeded", "len", static_cast<std::int64_t>(body->size()));
  auto options = write_options(context.info.query, form->applies ? WriteVerb::kApply : WriteVerb::kPatch);
  if (!options.ok()) co_return std::move(options.status());
  context.dry_run = options->dry_run;
  note_request_patch(context, *body, form->format);
  const Patch patch = make_patch(resource, *form, std::move(*body), *options);
  if (patch.applied != nullptr) {
    // configuration() caches the parsed configuration. If parsing fails, the storage's call of configuration() reports the error.
    const OffloadIfLarge offload(patch.text.size());
    co_await offload;
    (void)patch.applied->configuration(context).ok();
    co_await origin;
  }
  trace_step(context, "About to apply patch");
  auto patching = update_admitted(resource, context, *patch.info, std::move(*options), form->applies);
  auto patched = co_await std::move(patching);
  if (!patched.ok()) {
    // quote_sent_values() finds fields in a merge patch, which has the structure of the object. A JSON patch has no such fields.
    quote_sent_values(patched.status(), patch.text, form->format, resource.schema);
    co_return std::move(patched.status());
  }
  trace_step(context, "Object stored in database");
  co_await origin;
  trace_step(context, "About to write a response");
  const int code = patched->created ? 201 : 200;
  auto sending = send_object(resource, context, exchange, *media, code, std::move(patched->object));
  Status sent = co_await std::move(sending);
  trace_step(context, "Writing http response done");
  co_return sent;
}

}  // namespace backplane::endpoints
