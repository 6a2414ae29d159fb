#include "manifests/manifest_directory.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "backplane/core/text.hpp"

namespace backplane::admission::manifests {
namespace {

Status invalid_directory(const std::string& directory, const std::string& why) {
  return bad_request("staticManifestsDir: Invalid value: " + quoted(directory) + ": " + why);
}

}  // namespace

Status check_directory(const std::string& directory, bool enabled) {
  if (directory.empty()) return {};
  if (!enabled) {
    return bad_request(
        "staticManifestsDir: Forbidden: staticManifestsDir requires the ManifestBasedAdmissionControlConfig feature gate to "
        "be enabled");
  }
  if (!directory.starts_with('/')) return invalid_directory(directory, "must be an absolute file path");
  struct stat info {};
  if (::stat(directory.c_str(), &info) != 0) {
    std::string why = std::strerror(errno);
    why = lower_case(why.substr(0, 1)) + why.substr(1);
    return invalid_directory(directory, "unable to read: stat " + directory + ": " + why);
  }
  return S_ISDIR(info.st_mode) ? Status() : invalid_directory(directory, "must be a directory");
}

}  // namespace backplane::admission::manifests
