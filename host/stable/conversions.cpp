#include "stable/conversions.hpp"

#include <array>
#include <optional>
#include <vector>

#include "backplane/core/json_access.hpp"
#include "backplane/types/schema.hpp"

namespace backplane::stable {
namespace {

std::optional<Reason> reason_of(std::string_view name) {
  for (int i = 1; i <= static_cast<int>(Reason::kServiceUnavailable); ++i) {
    if (reason_name(static_cast<Reason>(i)) == name) return static_cast<Reason>(i);
  }
  return std::nullopt;
}

template <std::size_t N>
std::string_view filled(const char (&text)[N]) {
  return {text, ::strnlen(text, N)};
}
// Truncates at a character boundary and appends NUL.
template <std::size_t N>
void fill(char (&to)[N], std::string_view from) {
  std::size_t size = std::min(from.size(), N - 1);
  while (size < from.size() && size > 0 && (static_cast<unsigned char>(from[size]) & 0xC0U) == 0x80U) --size;
  std::memcpy(to, from.data(), size);
  to[size] = '\0';
}

}  // namespace

Status status_of(const bp_error& error, Reason otherwise) {
  const auto named = reason_of(filled(error.reason));
  const Reason reason = named.value_or(error.code == 0 ? otherwise : Reason::kNone);
  std::string message(filled(error.message));
  if (message.empty()) message = "the plugin has given no reason";
  constexpr std::int32_t kLeast = 400, kMost = 599;
  if (error.code < kLeast || error.code > kMost) return Status(reason, std::move(message));
  Status status(error.code, reason, std::move(message));
  if (reason == Reason::kServiceUnavailable) {
    StatusDetails details;
    details.retry_after_seconds = 1;
    status.with_details(std::move(details));
  }
  return status;
}

int fail(bp_error* error, const Status& status) {
  if (error == nullptr) return -1;
  error->code = status.code();
  fill(error->reason, reason_name(status.reason()));
  fill(error->message, status.message());
  return -1;
}
int fail(bp_error* error, std::string_view message) { return fail(error, Status(Reason::kInternalError, std::string(message))); }

std::optional<Object> object_of(std::string_view text, json::storage_ptr storage) {
  auto parsed = parse_json(text, std::move(storage), nullptr);
  if (!parsed.ok() || !parsed->is_object()) return std::nullopt;
  return std::move(parsed->get_object());
}

std::vector<std::string> texts(const Value* list) {
  std::vector<std::string> out;
  if (list == nullptr || !list->is_array()) return out;
  for (const Value& item : list->get_array()) out.emplace_back(text_of(item));
  return out;
}

}  // namespace backplane::stable
