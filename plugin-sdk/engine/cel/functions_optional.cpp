// Optional values, and bytes as text.
#include <vector>

#include "backplane/types/base64.hpp"
#include "cel/functions.hpp"

namespace backplane::cel_detail {
namespace {

Val of(Call& call) { return some_val(call.arena, call[0]); }
Val of_non_zero(Call& call) { return is_zero(call[0]) ? none_val() : some_val(call.arena, call[0]); }
Val none(Call&) { return none_val(); }
Val value(Call& call) { return call[0].inner == nullptr ? error_val("optional.none() dereference") : *call[0].inner; }
Val has_value(Call& call) { return bool_val(call[0].inner != nullptr); }

Val unwrap(Call& call) {
  std::vector<Val> items;
  for (std::size_t i = 0; i < list_size(call[0]); ++i) {
    const Val item = list_at(call.arena, call[0], i);
    if (!item.is(ValKind::kOptional)) {
      std::string text = "value ";
      append_plain(call.arena, text, item);
      return error_val(call.arena, text + " is not optional");
    }
    if (item.inner != nullptr) items.push_back(*item.inner);
  }
  Val* copy = call.arena.allocate<Val>(items.size());
  std::copy(items.begin(), items.end(), copy);
  return list_val(copy, items.size());
}

constexpr Implementation kOptionals[] = {
    {"optional_of", of},
    {"optional_ofNonZeroValue", of_non_zero},
    {"optional_none", none},
    {"optional_value", value},
    {"optional_hasValue", has_value},
    {"optional_unwrap", unwrap},
    {"optional_unwrapOpt", unwrap},
};

// The padding may be missing.
Val decode(Call& call) {
  std::string text(call.text(0));
  auto bytes = from_base64(text);
  if (!bytes && text.find('=') == std::string::npos) {
    text.append((4 - text.size() % 4) % 4, '=');
    bytes = from_base64(text);
  }
  if (bytes) return bytes_val(call.arena.keep_text(*bytes));
  const std::size_t at =
      std::min(call.text(0).find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"), call.text(0).size());
  return error_val(call.arena, "illegal base64 data at input byte " + std::to_string(at));
}
Val encode(Call& call) { return kept_string(call.arena, to_base64(call.text(0))); }

constexpr Implementation kEncoders[] = {
    {"base64_decode_string", decode},
    {"base64_encode_bytes", encode},
};

}  // namespace

std::span<const Implementation> optional_functions() { return kOptionals; }
std::span<const Implementation> encoder_functions() { return kEncoders; }

}  // namespace backplane::cel_detail
