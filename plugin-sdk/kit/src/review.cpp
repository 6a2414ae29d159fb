#include "backplane/kit/review.hpp"

#include <stdexcept>

#include "backplane/core/json_access.hpp"

namespace backplane BACKPLANE_API {
namespace kit BACKPLANE_API {

ReviewStorage::ReviewStorage(GroupVersionKind kind, std::shared_ptr<const SchemaSet> schemas, bool namespaced)
    : kind_(std::move(kind)), schemas_(std::move(schemas)), schema_(schemas_->find(kind_)), namespaced_(namespaced) {
  if (schema_ == nullptr) throw std::invalid_argument("the schema has no kind " + kind_.kind);
}

ReviewStorage::~ReviewStorage() = default;

std::string ReviewStorage::singular_name() const { return lower_case(kind_.kind); }

Status ReviewStorage::check(const Object&) const { return {}; }

Task<Result<ObjectRef>> ReviewStorage::create(RequestContext& context, Object& object, WriteOptions) {
  Status checked = prepare(context, object);
  if (!checked.ok()) co_return checked;
  co_return co_await answered(context, object);
}

Task<Result<ObjectRef>> ReviewStorage::create_validated(RequestContext& context, std::string, Object& object, WriteOptions,
                                                        CreateValidation& validation) {
  Status checked = prepare(context, object);
  if (!checked.ok()) co_return checked;
  Status valid = co_await validation.validate(object);
  if (!valid.ok()) co_return valid;
  co_return co_await answered(context, object);
}

Status ReviewStorage::prepare(const RequestContext& context, Object& object) const {
  // The endpoint has checked that the object's namespace is empty or equal to that of the request.
  ObjectMeta(object).set("namespace", namespaced_ ? std::string_view(context.info.ns) : std::string_view());
  return check(object);
}

Task<Result<ObjectRef>> ReviewStorage::answered(RequestContext& context, Object& object) const {
  Status done = co_await answer(context, object);
  if (!done.ok()) co_return done;
  Value whole(object, context.arena());
  Status shaped = schema_->normalize(whole, nullptr);
  if (!shaped.ok()) co_return internal_error(shaped.message());
  co_return make_object(whole.get_object());
}

namespace {

Array texts(const std::vector<std::string>& from) { return Array(from.begin(), from.end()); }

}  // namespace

Object user_info(const UserInfo& user, std::string_view name_key) {
  Object out;
  out[name_key] = user.name;
  out["uid"] = user.uid;
  out["groups"] = texts(user.groups);
  Object& extra = out["extra"].emplace_object();
  for (const auto& [key, values] : user.extra) extra[key] = texts(values);
  return out;
}

UserInfo read_user_info(const Object& object, std::string_view name_key) {
  UserInfo out;
  out.name = get_string(object, name_key);
  out.uid = get_string(object, "uid");
  out.groups = texts_of(object, "groups");
  const Object& extra = object_or_empty(object, "extra");
  for (const auto& entry : extra) out.extra.emplace_back(entry.key(), texts_of(extra, entry.key()));
  return out;
}

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API
