#include "runner/crossing.hpp"

#include <algorithm>
#include <cstring>

#include "stable/tables.hpp"

namespace backplane::runner {
namespace {

constexpr std::size_t kLeastFieldError = 16, kLeastHeader = 8;

template <std::size_t N>
std::string_view filled(const char (&text)[N]) {
  return {text, ::strnlen(text, N)};
}
template <std::size_t N>
void copy_to(char (&to)[N], std::string_view from) {
  const std::size_t size = std::min(from.size(), N - 1);
  std::memcpy(to, from.data(), size);
  to[size] = '\0';
}

}  // namespace

void put(Writer& out, const bp_user& user) {
  put(out, user.name);
  put(out, user.uid);
  put(out, user.groups, user.group_count);
  put(out, user.extra);
}

void TakenUser::take(Reader& in) {
  user_.struct_size = sizeof(user_);
  runner::take(in, user_.name);
  runner::take(in, user_.uid);
  groups_ = take_texts(in);
  user_.groups = groups_.data();
  user_.group_count = groups_.size();
  runner::take(in, user_.extra);
}

void put(Writer& out, const bp_error& error) {
  put(out, error.code);
  out.text(filled(error.reason));
  out.text(filled(error.message));
}

void take(Reader& in, bp_error& error) {
  take(in, error.code);
  copy_to(error.reason, in.text());
  copy_to(error.message, in.text());
}

void put(Writer& out, const bp_text* text) {
  put(out, static_cast<std::uint8_t>(text != nullptr));
  if (text != nullptr) out.text(text->bytes.view());
}

bp_text* take_given(Reader& in) {
  std::uint8_t given = 0;
  take(in, given);
  if (given == 0) return nullptr;
  return stable::give(std::string(in.text()));
}

void Parameter<bp_field_errors*>::fill(Reader& in, bp_field_errors* errors) {
  const std::uint32_t count = in.count(kLeastFieldError);
  for (std::uint32_t i = 0; i < count; ++i) {
    std::uint32_t type = 0;
    bp_str field{}, value{}, detail{};
    take(in, type);
    take(in, field);
    take(in, value);
    take(in, detail);
    if (!in.failed()) stable::groups_table().field_error(errors, type, field, value, detail);
  }
}

void Parameter<bp_field_errors*>::Kept::answer(Writer& out) {
  out.number(value.rows.size(), 4);
  for (const auto& row : value.rows) {
    put(out, row.type);
    out.text(row.field);
    out.text(row.value);
    out.text(row.detail);
  }
}

void Parameter<bp_exchange*>::send(Writer& out, bp_exchange* exchange) {
  const bp_http_table& http = stable::http_table();
  put(out, http.method(exchange));
  put(out, http.target(exchange));
  put(out, http.body(exchange));
  put(out, *http.user(exchange));
}

void Parameter<bp_exchange*>::fill(Reader& in, bp_exchange* exchange) {
  const bp_http_table& http = stable::http_table();
  const std::uint32_t count = in.count(kLeastHeader);
  for (std::uint32_t i = 0; i < count; ++i) {
    bp_str name{}, value{};
    take(in, name);
    take(in, value);
    if (!in.failed()) http.add_header(exchange, name, value);
  }
  std::int32_t code = 0;
  bp_str content_type{}, response{};
  take(in, code);
  take(in, content_type);
  take(in, response);
  if (!in.failed() && code != 0) http.respond(exchange, code, content_type, response);
}

void Parameter<bp_exchange*>::Kept::take(Reader& in) {
  runner::take(in, value.method);
  runner::take(in, value.target);
  runner::take(in, value.body);
  value.user.take(in);
}

void Parameter<bp_exchange*>::Kept::answer(Writer& out) {
  out.number(value.headers.size(), 4);
  for (const auto& [name, text] : value.headers) {
    out.text(name);
    out.text(text);
  }
  put(out, value.code);
  out.text(value.content_type);
  out.text(value.response);
}

}  // namespace backplane::runner
