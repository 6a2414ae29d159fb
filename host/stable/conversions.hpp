// Conversions between types of the stable tier and of the SDK: texts, errors, results, tables.
//
// Thread-safety: pure functions.
// Lifetime:      a string_view refers to the memory of the bp_str.
// Errors:        none.
#pragma once

#include <algorithm>
#include <cstring>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backplane/core/bytes.hpp"
#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"
#include "backplane/stable/base.h"

struct bp_output {
  std::string bytes;
};
struct bp_text {
  backplane::SharedBytes bytes;
};

namespace backplane::stable {

inline std::string_view view(bp_str text) noexcept {
  return text.data == nullptr ? std::string_view() : std::string_view(text.data, text.size);
}
inline std::string text(bp_str bytes) { return std::string(view(bytes)); }
inline bp_str str(std::string_view text) noexcept { return {text.data(), text.size()}; }

// A text that the plugin releases.
inline bp_text* give(SharedBytes bytes) { return new bp_text{std::move(bytes)}; }
inline bp_text* give(std::string bytes) { return give(SharedBytes(std::move(bytes))); }

// The error that a plugin has filled; with Retry-After if it is ServiceUnavailable. `otherwise`: the reason of an error without code and
// reason.
Status status_of(const bp_error& error, Reason otherwise = Reason::kInternalError);
// Fills `error`, which may be null; returns -1.
int fail(bp_error* error, const Status& status);
int fail(bp_error* error, std::string_view message);

// Copies a table that the plugin has filled. Members that the plugin's version of the table does not have are null.
template <class Table>
Table copy_of(const Table* given) {
  Table table{};
  std::memcpy(&table, given, std::min(given->struct_size, sizeof(Table)));
  table.struct_size = sizeof(Table);
  return table;
}

// Runs `work`, which returns a Status, for a function of a host's table. An exception of `work` becomes an error.
template <class Work>
int guarded(bp_error* error, Work&& work) noexcept {
  try {
    const Status status = work();
    return status.ok() ? 0 : fail(error, status);
  } catch (const std::exception& thrown) {
    return fail(error, thrown.what());
  } catch (...) {
    return fail(error, "an exception of an unknown type");
  }
}

// Parses an object; nullopt if the text is not a JSON object.
std::optional<Object> object_of(std::string_view text, json::storage_ptr storage = {});
// The elements of a list of strings.
std::vector<std::string> texts(const Value* list);

}  // namespace backplane::stable
