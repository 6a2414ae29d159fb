set(sources manifest_decoding.cpp manifest_directory.cpp manifest_files.cpp manifest_objects.cpp manifest_source.cpp)
    set(tests manifests_test.cpp)
