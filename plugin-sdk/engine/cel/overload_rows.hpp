// The rows of the function table, of which overloads() makes the table.
//
// Thread-safety: constant.
#pragma once

#include <span>
#include <string_view>

#include "cel/types.hpp"

namespace backplane::cel_detail {

enum class CallStyle : unsigned char { kGlobal, kMember };

struct OverloadRow {
  std::string_view function;
  std::string_view id;
  CallStyle style;
  Library library;
  unsigned since;              // minor version of Kubernetes; 0: always
  std::string_view signature;  // "(list(A), int) -> A"
};

// Rows of one function are adjacent.
std::span<const OverloadRow> standard_overloads();
std::span<const OverloadRow> extension_overloads();
std::span<const OverloadRow> kubernetes_overloads();

}  // namespace backplane::cel_detail
