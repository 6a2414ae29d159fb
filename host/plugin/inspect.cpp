#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <set>

#include "backplane/abi/abi.hpp"
#include "backplane/stable/manifest.h"
#include "plugin/descriptor.hpp"
#include "plugin/elf_file.hpp"

namespace backplane {

namespace {

namespace fs = std::filesystem;

void add(Findings& findings, std::string_view code, std::string field, std::string wanted, std::string found, std::string message,
         std::string fix = {}) {
  findings.push_back({code, Severity::kError, std::move(field), std::move(wanted), std::move(found), std::move(message), std::move(fix)});
}

// Parses the note.  Later SDKs may extend the head; this host reads the part that it knows.
std::optional<Descriptor> read_note(const std::string& note, Findings& findings) {
  bp_note_head head{};
  if (note.size() < sizeof(head)) {
    add(findings, finding_code::kCorruptNote, "head", std::to_string(sizeof(head)) + " bytes", std::to_string(note.size()) + " bytes",
        "the descriptor's head is cut off", "build the plugin again");
    return std::nullopt;
  }
  std::memcpy(&head, note.data(), sizeof(head));
  if (std::memcmp(head.magic, BP_NOTE_MAGIC, sizeof(head.magic)) != 0 || head.head_version != 1) {
    add(findings, finding_code::kUnknownHead, "head", "version 1", "version " + std::to_string(head.head_version),
        "the descriptor has a form this host does not know", "use a plugin built for this host");
    return std::nullopt;
  }
  if (head.head_size < sizeof(head) || head.head_size > note.size() || head.json_size > BP_MAX_JSON_SIZE ||
      head.json_size > note.size() - head.head_size) {
    add(findings, finding_code::kCorruptNote, "size", "at most " + std::to_string(note.size()) + " bytes",
        std::to_string(head.head_size) + " + " + std::to_string(head.json_size) + " bytes", "the descriptor's sizes do not fit its note",
        "build the plugin again");
    return std::nullopt;
  }
  auto descriptor = parse_manifest(std::string_view(note).substr(head.head_size, head.json_size), findings);
  if (descriptor) {
    descriptor->head = head;
  }
  compare_stamps(head, abi::sdk_stamp(), findings);
  return descriptor;
}

// Parses the note of a plugin of the stable tier.
std::optional<Descriptor> read_stable_note(const std::string& note, Findings& findings) {
  bp_stable_note_head head{};
  if (note.size() >= sizeof(head)) std::memcpy(&head, note.data(), sizeof(head));
  if (std::memcmp(head.magic, BP_STABLE_NOTE_MAGIC, sizeof(head.magic)) != 0 || head.head_size < sizeof(head) ||
      head.head_size > note.size() || head.json_size > BP_MAX_JSON_SIZE || head.json_size > note.size() - head.head_size) {
    add(findings, finding_code::kCorruptNote, "head", {}, std::to_string(note.size()) + " bytes",
        "the descriptor's sizes do not fit its note", "write BP_MANIFEST(\"plugin.json\") in one source, and build the plugin again");
    return std::nullopt;
  }
  auto descriptor = parse_manifest(std::string_view(note).substr(head.head_size, head.json_size), findings);
  if (descriptor) descriptor->stable_abi = head.abi;
  if (head.abi != BP_STABLE_ABI) {
    add(findings, finding_code::kStableAbi, "stable", std::to_string(BP_STABLE_ABI), std::to_string(head.abi),
        "the stable tier of the plugin has another form", "use a host that has it, or build the plugin with this host's headers");
  }
  return descriptor;
}

void check_entry(const ElfFile& elf, const char* symbol, std::string fix, Findings& findings) {
  if (elf.exports(symbol) != false) return;
  add(findings, finding_code::kNoEntry, "entry", symbol, {}, "the file does not export the entry point", std::move(fix));
}

// The *.so files of a directory, sorted by name.
std::vector<std::string> files_of(const std::string& directory, Findings& findings) {
  std::error_code error;
  std::vector<std::string> paths;
  fs::directory_iterator entries(directory, error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    if (entries->path().extension() == ".so") paths.push_back(entries->path().string());
  }
  if (error) {
    const bool missing = error == std::errc::no_such_file_or_directory;
    findings.push_back({finding_code::kCannotReadDirectory,
                        Severity::kWarning,
                        "--plugin-dir",
                        {},
                        directory,
                        missing ? "the plugin directory does not exist" : "the plugin directory cannot be read: " + error.message(),
                        missing ? "correct the path or make the directory" : "check the path and its permissions"});
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace

bool Descriptor::answers_to(std::string_view wanted) const noexcept {
  if (wanted == "*" || wanted == name) return true;
  return std::any_of(provides.begin(), provides.end(), [wanted](const Capability& c) { return c.name == wanted; });
}

std::string InspectedPlugin::display_name() const { return descriptor ? descriptor->name : fs::path(path).filename().string(); }

InspectedPlugin inspect_plugin(const std::string& path) {
  InspectedPlugin result;
  result.path = path;
  auto elf = ElfFile::open(path, result.findings);
  if (!elf) return result;
  bool corrupt = false;
  if (const auto note = elf->note(BP_NOTE_OWNER, BP_NOTE_TYPE, corrupt)) {
    result.descriptor = read_note(*note, result.findings);
    check_entry(*elf, BP_ENTRY_SYMBOL, "write BACKPLANE_PLUGIN(YourPlugin) in one source", result.findings);
  } else if (const auto stable = elf->note(BP_NOTE_OWNER, BP_STABLE_NOTE_TYPE, corrupt)) {
    result.descriptor = read_stable_note(*stable, result.findings);
    check_entry(*elf, BP_STABLE_ENTRY, "define it (backplane/stable/base.h), and export it", result.findings);
  } else if (corrupt) {
    add(result.findings, finding_code::kCorruptNote, "note", {}, {}, "a note runs over the end of its segment", "build the plugin again");
  } else {
    add(result.findings, finding_code::kNoNote, "note", BP_NOTE_SECTION, {}, "the file has no plugin descriptor",
        "build it with backplane_add_plugin()");
  }
  return result;
}

std::vector<InspectedPlugin> inspect_directories(const std::vector<std::string>& directories, Findings& findings) {
  std::vector<InspectedPlugin> plugins;
  // A file that is found twice, through a repeated directory or a link, is one plugin and no duplicate.
  std::set<std::pair<dev_t, ino_t>> seen;
  for (const auto& directory : directories) {
    for (const auto& path : files_of(directory, findings)) {
      struct stat info {};
      if (::stat(path.c_str(), &info) == 0 && !seen.emplace(info.st_dev, info.st_ino).second) continue;
      plugins.push_back(inspect_plugin(path));
    }
  }
  return plugins;
}

}  // namespace backplane
