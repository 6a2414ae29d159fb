#include <optional>

#include "base/home.hpp"
#include "endpoints/body.hpp"
#include "endpoints/creation.hpp"
#include "endpoints/respond.hpp"
#include "endpoints/sent_values.hpp"
#include "endpoints/verb_options.hpp"
#include "endpoints/verbs.hpp"
#include "registry/sent_values.hpp"

namespace backplane::endpoints {
namespace {

// The object of a PUT, handed out anew for each attempt of the store.  What is not there yet is created by those only who may create: they
// are asked for once.
class ReplacedObject final : public UpdatedObjectInfo, public registry::SentValues {
 public:
  ReplacedObject(const Resource& resource, const Object& object, std::string_view body, BodyFormat format)
      : resource_(resource), object_(object), body_(body), format_(format) {}

  Task<Result<Object>> updated_object(RequestContext& context, const Object*) override { co_return Object(object_, context.arena()); }

  Task<Status> may_create(RequestContext& context) override {
    if (!answer_) {
      auto asking = endpoints::may_create(resource_, context);
      answer_ = co_await std::move(asking);
    }
    co_return *answer_;
  }

  Preconditions preconditions() const override {
    Preconditions out;
    if (const auto uid = meta_text(object_, "uid"); !uid.empty()) out.uid = std::string(uid);
    return out;
  }

  Result<Value> sent(RequestContext& context, const Object&) const override {
    if (format_ == BodyFormat::kProtobuf) return Value(nullptr);  // has no empty lists
    DecodeReport report;
    return parse_body(body_, format_, context.arena(), &report);
  }

 private:
  const Resource& resource_;
  const Object& object_;
  const std::string_view body_;  // the request's
  const BodyFormat format_;
  std::optional<Status> answer_;
};

}  // namespace

Task<Status> serve_update(const Resource& resource, RequestContext& context, Exchange& exchange) {
  const Home home;
  auto media = negotiate(exchange, resource.offers);
  if (!media.ok()) co_return std::move(media.status());
  auto body = co_await read_request_body(exchange, resource.scope.max_body_bytes);
  if (!body.ok()) co_return std::move(body.status());
  auto options = write_options(request_query(exchange), WriteVerb::kUpdate);
  if (!options.ok()) co_return std::move(options.status());
  auto format = negotiate_input(exchange);
  if (!format.ok()) co_return std::move(format.status());
  auto object = decode_object(resource, context, *body, *format, options->field_validation);
  if (!object.ok()) co_return std::move(object.status());
  Status status = match_namespace(resource.namespace_of(context), *object);
  if (status.ok()) status = match_name(context.info.name, *object);
  if (!status.ok()) co_return status;
  context.dry_run = options->dry_run;
  ReplacedObject info(resource, *object, *body, *format);
  auto updating = resource.updater->update(context, context.info.name, info, std::move(*options), /*force_allow_create=*/false);
  auto updated = co_await std::move(updating);
  co_await home;
  if (!updated.ok()) {
    quote_sent_values(updated.status(), *body, *format);
    co_return std::move(updated.status());
  }
  const int code = updated->created ? 201 : 200;
  auto sending = send_object(resource, context, exchange, *media, code, std::move(updated->object));
  status = co_await std::move(sending);
  co_return status;
}

}  // namespace backplane::endpoints
