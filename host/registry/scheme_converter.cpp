#include "registry/scheme_converter.hpp"

#include "registry/metadata.hpp"

namespace backplane::registry {

Task<Result<std::vector<Object>>> SchemeConverter::convert(GroupVersionKind from, GroupVersionKind to, std::vector<Object> objects) const {
  return offloaded(blocking_calls_, convert_all(std::move(from), std::move(to), std::move(objects)));
}

Task<Result<std::vector<Object>>> SchemeConverter::convert_all(GroupVersionKind from, GroupVersionKind to,
                                                               std::vector<Object> objects) const {
  const auto scheme = environment_->scheme.get();
  if (scheme == nullptr) co_return not_started();
  for (Object& object : objects) {
    Status converted = scheme->convert(from, to, object);
    if (!converted.ok()) co_return converted;
  }
  co_return objects;
}

Result<std::string> SchemeConverter::stored_field_label(const GroupVersionKind& kind, std::string_view label) const {
  const auto scheme = environment_->scheme.get();
  if (scheme == nullptr) return not_started();
  return scheme->stored_field_label(kind, label);
}

Object StoredTable::stored_form(const Object& object, json::storage_ptr storage) const {
  Object copy(object, std::move(storage));
  const auto scheme = environment_->scheme.get();
  const bool converted =
      scheme != nullptr && scheme->convert(served_, stored_->kind(), copy).ok() && canonical_form(stored_->schema(), copy).ok();
  return converted ? copy : object;
}

Array StoredTable::cells(const Object& object, std::int64_t now_unix, json::storage_ptr storage) const {
  return stored_->table_convertor().cells(stored_form(object, storage), now_unix, storage);
}

Array StoredTable::conditions(const Object& object, json::storage_ptr storage) const {
  return stored_->table_convertor().conditions(stored_form(object, storage), storage);
}

}  // namespace backplane::registry
