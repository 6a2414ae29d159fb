// The description of a plugin: the head and the manifest of its ELF note, both checked.
//
// Thread-safety: values.
// Errors:        findings PLG-FILE-…, PLG-DESC-…; all of a file's problems are reported together.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backplane/abi/descriptor.h"
#include "backplane/core/json.hpp"
#include "plugin/finding.hpp"
#include "plugin/version.hpp"

namespace backplane {

namespace abi {
struct PointHeader;
}

struct Requirement {
  std::string name;  // a plugin or a capability
  VersionRange range;
  bool optional = false;
};

struct Capability {
  std::string name;
  Version version;  // the plugin's version, unless the manifest names another one
};

struct Descriptor {
  bp_note_head head{};           // the stamp of a plugin of the native tier
  std::uint32_t stable_abi = 0;  // for the stable tier (backplane/stable/manifest.h); 0: a plugin of the native tier
  std::string name;
  Version version;           // 0.0.0 when it cannot be read
  std::string version_text;  // the manifest's text, for display; may be empty
  std::string license, vendor, description;
  std::vector<Capability> provides;
  std::vector<Requirement> requires_;
  std::vector<std::string> in_front_of, behind, conflicts;
  std::string json;  // the manifest's bytes in the file

  bool is_stable() const noexcept { return stable_abi != 0; }
  // True for the plugin's name, for each of its capabilities, and for "*".
  bool answers_to(std::string_view name) const noexcept;
};

// The result of the inspection of one file.
struct InspectedPlugin {
  std::string path;
  std::optional<Descriptor> descriptor;  // present if at least name and version could be read
  Findings findings;
  std::string checked_digest = {};  // the SHA-256 of the bytes whose documents have been checked without findings; empty: not checked

  // The plugin's name; if it could not be read, the name of the file.
  std::string display_name() const;
  // The version's text in the manifest; empty when there is none.
  std::string display_version() const { return descriptor ? descriptor->version_text : std::string(); }
};

// Reads the note of `path` and checks everything that can be checked without other plugins: the file, the descriptor, and whether the stamp
// (bp_note_head) fits the SDK of this process. No code of the file runs.
InspectedPlugin inspect_plugin(const std::string& path);

// The same for every *.so of the directories, by directory and then by file name. A file that is found twice, through a repeated directory
// or a link, is inspected once. A directory that is missing or cannot be read is a warning in `findings`.
std::vector<InspectedPlugin> inspect_directories(const std::vector<std::string>& directories, Findings& findings);

// Parses a manifest. nullopt if `text` is not a JSON object with a valid name.
std::optional<Descriptor> parse_manifest(std::string_view text, Findings& findings);

// Findings for all fields of the stamp that differ.
void compare_stamps(const bp_note_head& plugin, const bp_note_head& host, Findings& findings);
// The same, compared with other fingerprints of backplane/points than those of this process's SDK.
void compare_stamps(const bp_note_head& plugin, const bp_note_head& host, std::span<const abi::PointHeader> points, Findings& findings);

// The descriptor as `inspect -o json` prints it.
Object descriptor_to_json(const Descriptor& descriptor);

}  // namespace backplane
