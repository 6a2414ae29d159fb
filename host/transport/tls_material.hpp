// The bytes of the TLS contexts: certificates, keys and client CA bundles, read from their files.
//
// Files fall into groups that change together: the serving pair, each SNI pair, the client CA bundles. If the new files of a group cannot
// be used, it keeps its old contents; other groups are unaffected.
//
// Thread-safety: a value; the functions may be called from any thread and block on files.
// Errors:        the file and the system's reason.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "backplane/core/status.hpp"
#include "transport/serving_options.hpp"

namespace backplane {

struct TlsMaterial {
  struct File {
    std::string path;  // empty: the bytes do not come from a file
    std::string pem;
    bool operator==(const File&) const = default;
  };
  struct Group {
    std::string name;  // for the log: "serving certificate"
    std::vector<File> files;
  };
  // The serving pair, the SNI pairs in order, the client CA bundles (perhaps none), then the bundle of front proxies (perhaps none). Pairs
  // hold the certificate before the key.
  std::vector<Group> groups;

  const Group& serving() const { return groups.front(); }
  const Group& sni(std::size_t index) const { return groups[index + 1]; }
  const Group& client_cas() const { return groups[groups.size() - 2]; }
  const Group& proxy_cas() const { return groups.back(); }
};

// The groups with the paths of their files and nothing read yet.
TlsMaterial tls_files(const ServingOptions& options);
// Reads the files of one group; after an error the group is unchanged.
Status read_group(TlsMaterial::Group& group);

}  // namespace backplane
