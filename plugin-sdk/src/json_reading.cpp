#include "backplane/json_reading.hpp"

namespace backplane BACKPLANE_API {

std::optional<Value> read_json(std::string_view text, json::storage_ptr storage) {
  json::parse_options options;
  options.max_depth = kMaxJsonDepth;
  boost::system::error_code error;
  Value value = json::parse(json::string_view(text.data(), text.size()), error, std::move(storage), options);
  if (error) return std::nullopt;
  return std::optional<Value>(std::move(value));
}

bool nests_deeper(const Value& value, std::size_t levels) noexcept {
  if (const Object* object = value.if_object()) return nests_deeper(*object, levels);
  const Array* array = value.if_array();
  if (array == nullptr) return false;
  if (levels == 0) return true;
  for (const Value& item : *array) {
    if (nests_deeper(item, levels - 1)) return true;
  }
  return false;
}

bool nests_deeper(const Object& object, std::size_t levels) noexcept {
  if (levels == 0) return true;
  for (const auto& member : object) {
    if (nests_deeper(member.value(), levels - 1)) return true;
  }
  return false;
}

UnreadableObject::UnreadableObject(std::string_view key)
    : std::runtime_error("the stored bytes of \"" + std::string(key) + "\" are no readable object") {}
UnreadableObject::~UnreadableObject() = default;

}  // namespace BACKPLANE_API
