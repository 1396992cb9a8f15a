! The public interface of plumbline for Fortran: the same as plumb.h, whose comments hold here too.
! Compile this file with your own compiler (module files differ between compilers) and link with -lplumb-api:
!
!     use plumb
!     !$omp parallel private(error)
!     error = plumb_pin(3 * (4 * rank_on_node + omp_get_thread_num()))
!     !$omp end parallel
module plumb
   use, intrinsic :: iso_c_binding, only: c_char, c_int, c_null_char
   implicit none
   private
   public :: plumb_cpu_count, plumb_cpu_number, plumb_pin, plumb_pin_cpu, plumb_pin_memory
   public :: plumb_is_recording, plumb_region_begin, plumb_region_end

   interface
      ! How many relative CPUs the job was given on this node.
      integer(c_int) function plumb_cpu_count() bind(c)
         import :: c_int
      end function

      ! The operating system's number of relative CPU n (counted from 0); -1: there is none.
      integer(c_int) function plumb_cpu_number(n) bind(c)
         import :: c_int
         integer(c_int), value :: n
      end function

      ! Pin the calling thread to relative CPU n, its memory to that CPU's node, or both. 0 or an errno value.
      integer(c_int) function plumb_pin(n) bind(c)
         import :: c_int
         integer(c_int), value :: n
      end function

      integer(c_int) function plumb_pin_cpu(n) bind(c)
         import :: c_int
         integer(c_int), value :: n
      end function

      integer(c_int) function plumb_pin_memory(n) bind(c)
         import :: c_int
         integer(c_int), value :: n
      end function

      integer(c_int) function recording() bind(c, name='plumb_is_recording')
         import :: c_int
      end function

      subroutine region_begin(name) bind(c, name='plumb_region_begin')
         import :: c_char
         character(kind=c_char), intent(in) :: name(*)
      end subroutine

      subroutine region_end(name) bind(c, name='plumb_region_end')
         import :: c_char
         character(kind=c_char), intent(in) :: name(*)
      end subroutine
   end interface

contains

   logical function plumb_is_recording()
      plumb_is_recording = recording() /= 0
   end function

   ! Name what the calling thread does from begin to end. Blanks at the end of the name do not count.
   subroutine plumb_region_begin(name)
      character(*), intent(in) :: name
      call region_begin(trim(name)//c_null_char)
   end subroutine

   subroutine plumb_region_end(name)
      character(*), intent(in) :: name
      call region_end(trim(name)//c_null_char)
   end subroutine

end module plumb
