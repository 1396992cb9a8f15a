# Writes a table of numbers. Planted: every line is flushed. Cured: Perl's own buffer.
use strict;
use warnings;
use IO::Handle;
open(my $file, '>', 'table') or die;
$file->autoflush(1) unless $ENV{CURED};
my $value = 1;
for my $row (1 .. 3_000_000) {
    $value = ($value * 1103515245 + 12345) % 2147483648;
    print $file "$row $value\n";
}
close($file);
