#include "plugin/carried_documents.hpp"

#include <cstring>
#include <utility>

#include "backplane/kit/group_check.hpp"
#include "engine/document_check.hpp"
#include "plugin/elf_file.hpp"

namespace backplane {
namespace {

constexpr std::size_t kAlignment = 16;

// The JSON documents of the section; other embedded files are skipped. nullopt: the section is not in the format of backplane_embed().
std::optional<std::vector<CarriedDocument>> documents_in(const std::string& section) {
  std::vector<CarriedDocument> out;
  for (std::size_t at = 0; at + sizeof(bp_document_head) <= section.size();) {
    bp_document_head head{};
    std::memcpy(&head, section.data() + at, sizeof(head));
    if (std::memcmp(head.magic, BP_DOCUMENT_MAGIC, sizeof(head.magic)) != 0) return std::nullopt;
    const std::size_t name = at + sizeof(head), left = section.size() - name;
    if (head.name_size == 0 || head.name_size > left || head.size > left - head.name_size) return std::nullopt;
    std::string file = section.substr(name, head.name_size - 1);
    if (file.ends_with(".json")) out.push_back({std::move(file), section.substr(name + head.name_size, head.size)});
    at = (name + head.name_size + head.size + 1 + kAlignment - 1) / kAlignment * kAlignment;
  }
  return out;
}

}  // namespace

void check_carried_documents(const std::string& path, Findings& findings) {
  Findings ignored;  // inspection has reported these findings
  const auto elf = ElfFile::open(path, ignored);
  const auto section = elf ? elf->section(BP_DOCUMENT_SECTION) : std::nullopt;
  if (!section) return;
  const auto documents = documents_in(*section);
  if (!documents) {
    findings.push_back({finding_code::kNoDocuments,
                        Severity::kError,
                        BP_DOCUMENT_SECTION,
                        {},
                        {},
                        "the documents of the file cannot be read",
                        "build the plugin again with backplane_add_plugin()"});
    return;
  }
  for (const DocumentProblem& problem : check_documents(*documents, kit::problem_of_group)) {
    findings.push_back({problem.is_note ? finding_code::kDocumentNote : finding_code::kDocument,
                        problem.is_note ? Severity::kInfo : Severity::kError,
                        problem.document + ":" + std::to_string(problem.line),
                        {},
                        problem.pointer,
                        problem.message,
                        {}});
  }
}

bool has_checked_documents(const InspectedPlugin& plugin) noexcept {
  return plugin.descriptor && (plugin.descriptor->head.documents & BP_DOCUMENTS_CHECKED) != 0;
}

void check_unchecked_documents(const InspectedPlugin& plugin, Findings& findings) {
  if (has_checked_documents(plugin) || !plugin.checked_digest.empty()) return;
  check_carried_documents(plugin.path, findings);
}

}  // namespace backplane
