// A shared library that is no plug-in.
extern "C" int nothing_of_rubato() { return 0; }
