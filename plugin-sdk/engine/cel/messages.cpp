#include "cel/messages.hpp"

#include "cel/times.hpp"

namespace backplane::cel_detail {
namespace {

Val field(Arena& arena, const Val& message, std::string_view name, const Val& otherwise) {
  Val out;
  return map_find(arena, message, string_val(name), out) && !out.is(ValKind::kNull) ? out : otherwise;
}

std::int64_t number(Arena& arena, const Val& message, std::string_view name) {
  const Val value = field(arena, message, name, int_val(0));
  return value.is(ValKind::kInt) ? value.integer : 0;
}

Val make_duration(Arena& arena, const Val& message) {
  std::int64_t out = 0;
  const bool overflow = __builtin_mul_overflow(number(arena, message, "seconds"), kNanos, &out) ||
                        __builtin_add_overflow(out, number(arena, message, "nanos"), &out);
  return overflow ? error_val("duration overflow") : duration_val(out);
}

Val make_timestamp(Arena& arena, const Val& message) {
  const std::int64_t seconds = number(arena, message, "seconds"), nanos = number(arena, message, "nanos");
  if (seconds < kFirstSecond || seconds > kLastSecond || nanos < 0 || nanos >= kNanos) return error_val("timestamp overflow");
  return timestamp_val(seconds, static_cast<std::uint32_t>(nanos), 0);
}

// google.protobuf.Value: returns the member that is set.
Val make_value(const Val& message) {
  return message.entries->size == 0 ? null_val() : message.entries->entries[message.entries->size - 1].value;
}

Val within(const Val& value, std::int64_t low, std::int64_t high) {
  if (!value.is(ValKind::kInt)) return value;
  return value.integer < low || value.integer > high ? error_val("integer overflow") : value;
}

}  // namespace

Val unwrap_message(Arena& arena, const Val& message) {
  constexpr std::string_view kPrefix = "google.protobuf.";
  std::string_view name = message.entries->type_name;
  if (!name.starts_with(kPrefix)) return message;
  name.remove_prefix(kPrefix.size());
  if (name == "BoolValue") return field(arena, message, "value", bool_val(false));
  if (name == "BytesValue") return field(arena, message, "value", bytes_val({}));
  if (name == "StringValue") return field(arena, message, "value", string_val({}));
  if (name == "DoubleValue") return field(arena, message, "value", double_val(0));
  if (name == "Int64Value") return field(arena, message, "value", int_val(0));
  if (name == "UInt64Value") return field(arena, message, "value", uint_val(0));
  if (name == "Int32Value") return within(field(arena, message, "value", int_val(0)), -2147483648LL, 2147483647LL);
  if (name == "FloatValue") {
    Val out = field(arena, message, "value", double_val(0));
    if (out.is(ValKind::kDouble)) out.real = static_cast<double>(static_cast<float>(out.real));
    return out;
  }
  if (name == "UInt32Value") {
    const Val out = field(arena, message, "value", uint_val(0));
    return out.is(ValKind::kUint) && out.natural > 4294967295u ? error_val("unsigned integer overflow") : out;
  }
  if (name == "ListValue") return field(arena, message, "values", list_val(nullptr, 0));
  if (name == "Struct") return field(arena, message, "fields", make_map(arena, nullptr, 0));
  if (name == "Value") return make_value(message);
  if (name == "Duration") return make_duration(arena, message);
  if (name == "Timestamp") return make_timestamp(arena, message);
  return message;
}

}  // namespace backplane::cel_detail
