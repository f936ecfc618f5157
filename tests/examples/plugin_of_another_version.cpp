// A shared library that says that it is of another version.
namespace {

struct Plugin {
  const char* built_with;
  const void* nothing[4];
};
constexpr Plugin plugin{"0.0.1 of commit 0000000", {}};

}  // namespace

extern "C" const void* rubato_plugin() { return &plugin; }
