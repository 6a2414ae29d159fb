// Warnings about files in one volume that overwrite each other.
#include <algorithm>
#include <map>
#include <set>

#include "backplane/core/json_access.hpp"
#include "backplane/core/status.hpp"
#include "backplane/workload/warnings.hpp"

namespace backplane::workload {

using namespace kit;

namespace {

struct File {
  std::string path;
  std::string source;  // empty if the volume has only one source

  std::string print() const { return source.empty() ? quoted(path) : quoted(path) + " (" + source + ")"; }
};
using Files = std::vector<File>;

// The maximum number of warnings in a response, because the number of overlaps may be quadratic in the number of files.
constexpr std::size_t kMostWarnings = 1000;

// The files of one volume, in the order in which they were added, indexed by their paths and by the folders that contain them.
class Volume {
 public:
  // Returns the earlier files that conflict with a file at `path`, in the order in which they were added.
  std::vector<const File*> conflicting(const std::string& path) const {
    std::vector<std::size_t> found;
    const auto take = [&](auto begin, auto end) {
      for (; begin != end && found.size() < kMostWarnings; ++begin) found.push_back(begin->second);
    };
    for (const std::size_t length : lengths_) {
      if (length > path.size()) break;
      if (length < path.size() && path[length] != '/') continue;
      const auto [first, last] = by_path_.equal_range(std::string_view(path).substr(0, length));
      take(first, last);
    }
    take(by_path_.lower_bound(path + "/"), by_path_.lower_bound(path + static_cast<char>('/' + 1)));
    std::sort(found.begin(), found.end());
    std::vector<const File*> out;
    for (const std::size_t index : found) out.push_back(&files_[index]);
    return out;
  }
  void add(File file) {
    if (!file.path.empty()) {
      by_path_.emplace(file.path, files_.size());
      lengths_.insert(file.path.size());
    }
    files_.push_back(std::move(file));
  }

 private:
  Files files_;
  std::multimap<std::string, std::size_t, std::less<>> by_path_;
  std::set<std::size_t> lengths_;  // the lengths of the paths in by_path_, to look up only possible parent folders
};

// Adds files one by one, and adds a warning for each earlier file that conflicts.
void warn_of_files(const Files& added, Volume& files, const std::string& volume, const std::string& what, Warnings& out) {
  for (File file : added) {
    file.path.resize(file.path.find_last_not_of('/') + 1);
    if (!file.path.empty() && out.size() < kMostWarnings) {
      for (const File* other : files.conflicting(file.path)) {
        out.push_back("volume " + quoted(volume) + " (" + what + "): overlapping paths: " + file.print() + " with " + other->print());
      }
    }
    files.add(std::move(file));
  }
}

Files files_of(const Object& source, const std::string& name) {
  Files out;
  each(source, "items", [&](const Object& item, std::size_t) { out.push_back({std::string(get_string(item, "path")), name}); });
  return out;
}

std::string called(std::string_view kind, const Object& source, std::string_view member) {
  return std::string(kind) + " " + quoted(get_string(source, member));
}

// Returns the files of the first source of a projection, in upstream's order of kinds of sources.
Files projected_files(const Object& source) {
  if (const Object* map = get_object(source, "configMap"); map && has(*map, "items"))
    return files_of(*map, called("ConfigMap", *map, "name"));
  if (const Object* secret = get_object(source, "secret"); secret && has(*secret, "items"))
    return files_of(*secret, called("Secret", *secret, "name"));
  if (const Object* downward = get_object(source, "downwardAPI"); downward && has(*downward, "items"))
    return files_of(*downward, "DownwardAPI");
  if (const Object* token = get_object(source, "serviceAccountToken")) {
    return {{std::string(get_string(*token, "path")), "ServiceAccountToken"}};
  }
  if (const Object* bundle = get_object(source, "clusterTrustBundle")) {
    const std::string_view member = has(*bundle, "name") ? "name" : "signerName";
    return {{std::string(get_string(*bundle, "path")), called("ClusterTrustBundle", *bundle, member)}};
  }
  Files out;
  if (const Object* certificate = get_object(source, "podCertificate")) {
    for (const auto& [member, what] :
         {std::pair{"certificateChainPath", "chain"}, {"keyPath", "key"}, {"credentialBundlePath", "credential bundle"}}) {
      const std::string path(get_string(*certificate, member));
      if (!path.empty()) out.push_back({path, std::string("PodCertificate ") + what});
    }
  }
  return out;
}

bool is_empty(const Object& source) {
  for (const auto& member : source) {
    if (!member.value().is_null()) return false;
  }
  return true;
}

void warn_of_projected(const Object& volume, const std::string& name, Warnings& out) {
  const Array* sources = get_array(object_or_empty(volume, "projected"), "sources");
  Volume files;
  for (std::size_t i = 0; sources != nullptr && i < sources->size(); ++i) {
    const Object* source = (*sources)[i].if_object();
    if (source == nullptr || is_empty(*source)) {
      out.push_back("volume " + quoted(name) + " (Projected) has no sources provided");
      continue;
    }
    warn_of_files(projected_files(*source), files, name, "Projected", out);
  }
}

}  // namespace

void warn_of_overlapping_paths(const Object& pod_spec, Warnings& out) {
  each(pod_spec, "volumes", [&](const Object& volume, std::size_t) {
    const std::string name(get_string(volume, "name"));
    const auto check = [&](std::string_view member, auto describe) {
      const Object* source = get_object(volume, member);
      Volume files;
      if (source != nullptr) warn_of_files(files_of(*source, ""), files, name, describe(*source), out);
    };
    check("configMap", [](const Object& source) { return called("ConfigMap", source, "name"); });
    check("secret", [](const Object& source) { return called("Secret", source, "secretName"); });
    check("downwardAPI", [](const Object&) { return std::string("DownwardAPI"); });
    warn_of_projected(volume, name, out);
  });
}

}  // namespace backplane::workload
