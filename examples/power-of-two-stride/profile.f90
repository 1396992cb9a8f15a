! The mean of each row of a field, again and again while the field changes: along the rows of an array that lies column by
! column in memory. `length` of the module layout: elements from one column to the next, at least `height`.
program profile
  use layout, only: length
  implicit none
  integer, parameter :: height = 2048, width = 512
  double precision :: mean
  double precision, save :: field(length, width)
  character(len=20) :: word
  integer :: step, steps, row, column

  steps = 500
  if (command_argument_count() > 0) then
    call get_command_argument(1, word)
    read (word, *) steps
  end if
  do column = 1, width
    do row = 1, height
      field(row, column) = column + 1d-3 * row
    end do
  end do
  do step = 1, steps
    mean = 0
    do row = 1, height
      mean = mean + row_mean(row) / height
    end do
    field(mod(step, height) + 1, mod(step, width) + 1) = mean
  end do
  print '(i0, a, f0.6)', steps, ' steps, mean ', mean

contains

  double precision function row_mean(row)
    integer, intent(in) :: row
    integer :: column
    row_mean = 0
    do column = 1, width
      row_mean = row_mean + field(row, column)
    end do
    row_mean = row_mean / width
  end function
end program
