#include "engine/json_lines.hpp"

#include "backplane/types/schema.hpp"
#include "documents/json_pointer.hpp"

namespace backplane BACKPLANE_API {

std::vector<DuplicateMember> duplicate_members(std::string_view text) {
  DecodeReport report;
  report.merge_duplicates = false;
  const auto tree = parse_json(text, {}, &report);
  if (!tree.ok()) return {};
  std::vector<DuplicateMember> out;
  for (const DuplicateField& each : report.duplicates) {
    documents::Pointer at = documents::pointer_of(*tree, each.parent);
    at.push_back(each.key);
    out.push_back(
        {each.parent.empty() ? each.key : each.parent + "." + each.key, documents::line_of(text, at, documents::Occurrence::kLast)});
  }
  return out;
}

std::size_t line_in_json(std::string_view text, const Value& root, std::string_view path) {
  return documents::line_of(text, documents::pointer_of(root, path));
}

std::size_t line_of_json_error(std::string_view text) {
  json::stream_parser parser;
  boost::system::error_code error;
  return documents::line_at(text, parser.write_some(text.data(), text.size(), error));
}

}  // namespace BACKPLANE_API
