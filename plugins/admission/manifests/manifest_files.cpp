#include "manifests/manifest_files.hpp"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "backplane/core/json.hpp"
#include "backplane/core/text.hpp"
#include "backplane/kit/content_hash.hpp"
#include "backplane/kit/watched_file.hpp"

namespace backplane::admission::manifests {
namespace {

constexpr std::array<std::string_view, 3> kExtensions = {".yaml", ".yml", ".json"};
constexpr std::string_view kSeparator = "---";
constexpr std::string_view kBlanks = " \t\r\n\v\f";

struct CloseDirectory {
  void operator()(DIR* directory) const noexcept { ::closedir(directory); }
};

// Go prints the system's error texts in lower case.
std::string error_text(int error) {
  std::string out = std::strerror(error);
  return out.empty() ? out : lower_case(out.substr(0, 1)) + out.substr(1);
}

bool is_manifest(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  return dot != std::string_view::npos &&
         std::find(kExtensions.begin(), kExtensions.end(), lower_case(name.substr(dot))) != kExtensions.end();
}

// The names of the manifests, sorted.
Result<std::vector<std::string>> names_in(const std::string& directory) {
  const std::unique_ptr<DIR, CloseDirectory> opened(::opendir(directory.c_str()));
  if (opened == nullptr) {
    return bad_request("failed to read manifest directory " + quoted(directory) + ": open " + directory + ": " + error_text(errno));
  }
  std::vector<std::string> out;
  while (const dirent* entry = ::readdir(opened.get())) {  // NOLINT(concurrency-mt-unsafe): one stream, one thread
    struct stat info {};
    const std::string path = directory + "/" + entry->d_name;
    if (!is_manifest(entry->d_name) || (::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode))) continue;
    out.emplace_back(entry->d_name);
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::string_view without_blanks(std::string_view text) {
  const auto begin = text.find_first_not_of(kBlanks);
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

// Only blanks and a comment may follow the dashes.
bool is_separator(std::string_view line) {
  if (!line.starts_with(kSeparator)) return false;
  const std::string_view rest = without_blanks(line.substr(kSeparator.size()));
  return rest.empty() || rest.front() == '#';
}

std::string stamp_of_file(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return "-";
  std::string out;
  for (const auto part :
       {static_cast<std::int64_t>(info.st_dev), static_cast<std::int64_t>(info.st_ino), static_cast<std::int64_t>(info.st_size),
        static_cast<std::int64_t>(info.st_mtim.tv_sec), static_cast<std::int64_t>(info.st_mtim.tv_nsec),
        static_cast<std::int64_t>(info.st_ctim.tv_sec), static_cast<std::int64_t>(info.st_ctim.tv_nsec)}) {
    out.append(std::to_string(part)).push_back('.');
  }
  return out;
}

}  // namespace

std::vector<std::string> split_documents(std::string_view text) {
  std::vector<std::string> out;
  std::string current;
  const auto end = [&] {
    const std::string_view document = without_blanks(current);
    if (!document.empty()) out.emplace_back(document);
    current.clear();
  };
  while (!text.empty()) {
    const std::size_t length = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view line = text.substr(0, length);
    text.remove_prefix(length);
    if (is_separator(line) && !current.empty()) {
      end();
    } else {
      current.append(line);
    }
  }
  end();
  return out;
}

Result<ManifestFiles> read_manifest_files(const std::string& directory) {
  auto names = names_in(directory);
  if (!names.ok()) return std::move(names.status());
  ManifestFiles out;
  std::string all;
  for (const std::string& name : *names) {
    const std::string path = directory + (directory.ends_with('/') ? "" : "/") + name;
    const auto content = kit::read_bounded_file(path);
    if (!content.ok()) return bad_request("failed to read file " + quoted(path) + ": " + content.status().message());
    if (content->empty()) continue;
    all.append(*content).push_back('\0');
    for (std::string& document : split_documents(*content)) out.documents.push_back({path, std::move(document)});
  }
  out.hash = kit::content_hash(all);
  return out;
}

std::string stamp_of_directory(const std::string& directory) {
  const auto names = names_in(directory);
  if (!names.ok()) return {};
  std::string out = ":";
  for (const std::string& name : *names) out.append(name).append("=").append(stamp_of_file(directory + "/" + name)).append(";");
  return out;
}

}  // namespace backplane::admission::manifests
