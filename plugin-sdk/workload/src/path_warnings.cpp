// Files of one volume that would be written over each other.
#include "backplane/kit/walk.hpp"
#include "backplane/status.hpp"
#include "backplane/workload/warnings.hpp"

namespace backplane::workload {

using namespace kit;

namespace {

struct File {
  std::string path;
  std::string source;  // empty when the volume has one source only

  std::string print() const { return source.empty() ? quoted(path) : quoted(path) + " (" + source + ")"; }
};
using Files = std::vector<File>;

bool is_inside(const std::string& path, const std::string& folder) { return (path + "/").starts_with(folder + "/"); }

// Adds files one by one and tells of each earlier one that is in the way.
void warn_of_files(const Files& added, Files& files, const std::string& volume, const std::string& what, Warnings& out) {
  for (File file : added) {
    file.path.resize(file.path.find_last_not_of('/') + 1);
    for (const File& other : files) {
      if (file.path.empty() || other.path.empty()) continue;
      if (!is_inside(file.path, other.path) && !is_inside(other.path, file.path)) continue;
      out.push_back("volume " + quoted(volume) + " (" + what + "): overlapping paths: " + file.print() + " with " + other.print());
    }
    files.push_back(std::move(file));
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

// The files of the first kind of source that a projection has, as upstream looks for them.
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
  Files files;
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
      Files files;
      if (source != nullptr) warn_of_files(files_of(*source, ""), files, name, describe(*source), out);
    };
    check("configMap", [](const Object& source) { return called("ConfigMap", source, "name"); });
    check("secret", [](const Object& source) { return called("Secret", source, "secretName"); });
    check("downwardAPI", [](const Object&) { return std::string("DownwardAPI"); });
    warn_of_projected(volume, name, out);
  });
}

}  // namespace backplane::workload
