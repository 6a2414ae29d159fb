#include <algorithm>
#include <map>

#include "cel/overload_rows.hpp"

namespace backplane::cel_detail {
namespace {

// Arguments of a signature, separated by commas outside nested brackets.
std::vector<std::string_view> split_arguments(std::string_view text) {
  std::vector<std::string_view> out;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == ',' && depth == 0)) {
      if (i > begin) out.push_back(text.substr(begin, i - begin));
      begin = i + 2;  // behind ", "
    } else if (text[i] == '(') {
      ++depth;
    } else if (text[i] == ')') {
      --depth;
    }
  }
  return out;
}

struct Table {
  TypeArena arena;
  std::list<std::vector<const Type*>> arguments;
  std::vector<Overload> rows;
  std::map<std::string_view, std::pair<std::size_t, std::size_t>> functions;  // first row, and how many
  std::map<std::string_view, std::size_t> ids;

  Table() {
    for (const auto& part : {standard_overloads(), extension_overloads(), kubernetes_overloads()}) {
      for (const OverloadRow& row : part) add(row);
    }
  }

  void add(const OverloadRow& row) {
    const std::size_t arrow = row.signature.find(") -> ");
    auto& types = arguments.emplace_back();
    for (const std::string_view each : split_arguments(row.signature.substr(1, arrow - 1))) types.push_back(arena.read(each));
    const auto index = static_cast<std::uint32_t>(rows.size());
    rows.push_back({row.function, row.id, row.style == CallStyle::kMember, row.library, row.since, types,
                    arena.read(row.signature.substr(arrow + 5)), index});
    auto& [first, count] = functions.try_emplace(row.function, index, 0).first->second;
    ++count;
    ids.emplace(row.id, index);
  }
};

const Table& table() {
  static const Table kTable;
  return kTable;
}

}  // namespace

std::span<const Overload> overloads() { return table().rows; }

std::span<const Overload> overloads_of(std::string_view function) {
  const auto found = table().functions.find(function);
  if (found == table().functions.end()) return {};
  return overloads().subspan(found->second.first, found->second.second);
}

const Overload* find_overload(std::string_view id) {
  const auto found = table().ids.find(id);
  return found == table().ids.end() ? nullptr : &table().rows[found->second];
}

}  // namespace backplane::cel_detail
