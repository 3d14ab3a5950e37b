// The link test of a module: linking this with the whole library proves that every symbol the
// library uses comes from a dependency it declared.
int main() { return 0; }
