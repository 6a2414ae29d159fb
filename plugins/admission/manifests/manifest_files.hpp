// The documents in a directory of manifests.
//
// Thread-safety: any thread. The functions that read files block.
// Errors:        kBadRequest with the texts of upstream's loader.
// Source:        LoadFiles of k8s.io/apiserver/pkg/admission/plugin/manifest/loader.go.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/status.hpp"

namespace backplane::admission::manifests {

struct ManifestDocument {
  std::string file;  // the path of the file
  std::string text;
};
struct ManifestFiles {
  std::vector<ManifestDocument> documents;  // in the order of the files' names
  std::string hash;                         // "sha256:…" of all files; empty: they contain no documents
};

// The documents of all files named *.yaml, *.yml and *.json. Subdirectories are not read.
Result<ManifestFiles> read_manifest_files(const std::string& directory);
// A text that changes when a file is written, added, replaced or removed; empty if the directory cannot be read.
std::string stamp_of_directory(const std::string& directory);
// The documents of one file, which lines of three dashes separate.
std::vector<std::string> split_documents(std::string_view text);

}  // namespace backplane::admission::manifests
