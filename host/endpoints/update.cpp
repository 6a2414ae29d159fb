#include <optional>

#include "base/offload_pool.hpp"
#include "base/origin_executor.hpp"
#include "endpoints/audit_notes.hpp"
#include "endpoints/creation.hpp"
#include "endpoints/handler_span.hpp"
#include "endpoints/replacement.hpp"
#include "endpoints/respond.hpp"
#include "endpoints/sent_values.hpp"
#include "endpoints/storage_admission.hpp"
#include "endpoints/verb_options.hpp"
#include "endpoints/verbs.hpp"
#include "registry/fields/entry_update.hpp"
#include "registry/fields/managers.hpp"
#include "registry/fields/raw_managers.hpp"
#include "registry/sent_values.hpp"

namespace backplane::endpoints {
namespace {

Status check_names(const Resource& resource, RequestContext& context, Object& object) {
  Status status = match_namespace(resource.namespace_of(context), object);
  return status.ok() ? match_name(context.info.name, object) : status;
}

// Decodes the object of a PUT, and checks its name and namespace.
Result<Object> read_object(const Resource& resource, RequestContext& context, std::string_view body, BodyFormat format,
                           FieldValidation validation) {
  auto object = decode_object(resource, context, body, format, validation);
  if (!object.ok()) return object;
  Status status = check_names(resource, context, *object);
  if (!status.ok()) return status;
  return object;
}

// Like read_object(), but uses decode_replacement(), which leaves fieldsV1 raw. Records the object for audit.
Result<Object> read_replacement(const Resource& resource, RequestContext& context, std::string_view body, BodyFormat format,
                                FieldValidation validation) {
  auto object = decode_replacement(resource, context, body, format, validation);
  if (!object.ok()) return object;
  note_request_object(resource, context, *object);
  if (check_names(resource, context, *object).ok()) return object;
  // Errors within the object precede errors about its name and namespace.
  return read_object(resource, context, body, format, validation);
}

// Returns true if the object has no raw managedFields, or if they equal those of the existing object.
bool repeats_managers(const Object& object, const Object* existing) {
  if (!registry::has_raw_managers(object)) return true;
  if (existing == nullptr || !registry::has_raw_managers(*existing)) return false;
  return registry::same_encoding(*registry::managed_fields_of(object), *registry::managed_fields_of(*existing));
}

// The object of a PUT, for each attempt of the storage. There is nearly always only one attempt. The first attempt gets the decoded object.
// Later attempts decode the body again, which costs about as much as a copy of the object would. If the object does not exist, may_create()
// asks the authorizer once.
class ReplacedObject final : public UpdatedObjectInfo, public registry::SentValues {
 public:
  ReplacedObject(const Resource& resource, Object object, std::string_view body, BodyFormat format, FieldValidation validation)
      : resource_(resource),
        uid_(meta_text(object, "uid")),
        first_(std::move(object)),
        body_(body),
        format_(format),
        validation_(validation) {}

  ClientWrite* client_write() noexcept override { return this; }
  Task<Result<Object>> updated_object(RequestContext& context, const Object* existing) override {
    if (!first_ || !repeats_managers(*first_, existing)) {
      first_.reset();
      co_return read_object(resource_, context, body_, format_, validation_);
    }
    Object object = std::move(*first_);
    first_.reset();
    co_return object;
  }

  // Returns the errors in the part of the body that has not been parsed.
  Status check_rest(RequestContext& context) const {
    if (!first_ || !registry::has_raw_managers(*first_)) return {};
    auto whole = read_object(resource_, context, body_, format_, validation_);
    return whole.ok() ? Status() : std::move(whole.status());
  }

  Task<Status> may_create(RequestContext& context) override {
    if (!answer_) {
      auto asking = endpoints::may_create(resource_, context);
      answer_ = co_await std::move(asking);
    }
    co_return *answer_;
  }

  Preconditions preconditions() const override {
    Preconditions out;
    if (!uid_.empty()) out.uid = uid_;
    return out;
  }

  Result<Value> sent(RequestContext& context, const Object&) const override {
    if (format_ == BodyFormat::kProtobuf) return Value(nullptr);  // protobuf has no empty lists
    DecodeReport report;
    return parse_body(body_, format_, context.arena(), &report);
  }

 private:
  const Resource& resource_;
  const std::string uid_;
  std::optional<Object> first_;  // the decoded object, until the first attempt has moved it
  const std::string_view body_;  // the body of the request, which the caller owns
  const BodyFormat format_;
  const FieldValidation validation_;
  std::optional<Status> answer_;
};

}  // namespace

Task<Status> serve_update(const Resource& resource, RequestContext& context, Exchange& exchange) {
  const OriginExecutor origin;
  auto media = negotiate(context, exchange, resource.offers);
  if (!media.ok()) co_return std::move(media.status());
  auto body = co_await read_request_body(resource, exchange, BodyVerb::kUpdate);
  if (!body.ok()) co_return std::move(body.status());
  trace_step(context, "limitedReadBody succeeded", "len", static_cast<std::int64_t>(body->size()));
  auto options = write_options(context.info.query, WriteVerb::kUpdate);
  if (!options.ok()) co_return std::move(options.status());
  auto format = negotiate_input(context, exchange);
  if (!format.ok()) co_return std::move(format.status());
  trace_step(context, "About to convert to expected version");
  const OffloadIfLarge offload(body->size());
  co_await offload;
  auto object = read_replacement(resource, context, *body, *format, options->field_validation);
  co_await origin;
  if (!object.ok()) co_return std::move(object.status());
  trace_step(context, "Conversion done");
  context.dry_run = options->dry_run;
  ReplacedObject info(resource, std::move(*object), *body, *format, options->field_validation);
  trace_step(context, "About to store object in database");
  auto updating = update_admitted(resource, context, info, std::move(*options), /*force_allow_create=*/false);
  auto updated = co_await std::move(updating);
  if (!updated.ok()) {
    trace_step(context, "Write to database call failed", "err", std::string_view(updated.status().message()));
    Status unread = info.check_rest(context);
    if (!unread.ok()) co_return unread;
    quote_sent_values(updated.status(), *body, *format, resource.schema);
    co_return std::move(updated.status());
  }
  trace_step(context, "Write to database call succeeded", "len", static_cast<std::int64_t>(body->size()));
  co_await origin;
  trace_step(context, "About to write a response");
  const int code = updated->created ? 201 : 200;
  auto sending = send_object(resource, context, exchange, *media, code, std::move(updated->object));
  Status sent = co_await std::move(sending);
  trace_step(context, "Writing http response done");
  co_return sent;
}

}  // namespace backplane::endpoints
