// The contents of the TLS files: certificates, keys and CA bundles.
//
// The files of a group change together. The groups are the serving pair, each SNI pair, the client CA bundles and the front proxy CA
// bundle. If the new files of a group are invalid, the group keeps its old contents, and other groups are unaffected.
//
// Thread-safety: a value. The functions may be called from any thread; read_group() blocks on files.
// Errors:        name the file and the system's reason.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "backplane/core/status.hpp"
#include "transport/serving_options.hpp"

namespace backplane {

struct TlsMaterial {
  struct File {
    std::string path;  // empty if the contents do not come from a file
    std::string pem;
    bool operator==(const File&) const = default;
  };
  struct Group {
    std::string name;  // the name in log lines: "serving certificate"
    std::vector<File> files;
  };
  // The order is: the serving pair, the SNI pairs, the client CA bundles, the front proxy CA bundle. The last two groups may have no files.
  // A pair has the certificate before the key.
  std::vector<Group> groups;

  const Group& serving() const { return groups.front(); }
  const Group& sni(std::size_t index) const { return groups[index + 1]; }
  const Group& client_cas() const { return groups[groups.size() - 2]; }
  const Group& proxy_cas() const { return groups.back(); }
};

// Returns the groups with the paths of their files, before the files are read.
TlsMaterial tls_files(const ServingOptions& options);
// Reads the files of a group. After an error, the group is unchanged.
Status read_group(TlsMaterial::Group& group);

}  // namespace backplane
